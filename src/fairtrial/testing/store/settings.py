"""The contract of a `SettingsStore`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from fairtrial.model.json import Json
from fairtrial.ports import SettingsStore
from fairtrial.testing.store.facts import NOON


class SettingsStoreContract:
    """Subclass it in a test module, name the class `Test…`, and override `settings`."""

    @pytest.fixture
    def settings(self) -> Iterator[SettingsStore]:
        """Give the settings of an empty store."""
        raise NotImplementedError

    def test_what_was_never_set_is_none(self, settings: SettingsStore) -> None:
        assert settings.get("baseline") is None

    @pytest.mark.parametrize("value", ["exp_1", 0, False, [1, {"a": None}], {"ö": "\ud800"}, ""])
    def test_a_value_comes_back_as_it_was(self, settings: SettingsStore, value: Json) -> None:
        settings.set("key", value, NOON)
        assert settings.get("key") == value

    def test_the_last_value_stays_and_others_are_left_alone(self, settings: SettingsStore) -> None:
        settings.set("a", 1, NOON)
        settings.set("b", 2, NOON)
        settings.set("a", 3, NOON + timedelta(seconds=1))
        assert (settings.get("a"), settings.get("b")) == (3, 2)

    def test_deleting_says_whether_there_was_one(self, settings: SettingsStore) -> None:
        settings.set("a", 1, NOON)
        assert settings.delete("a")
        assert not settings.delete("a")
        assert settings.get("a") is None
