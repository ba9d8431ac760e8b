"""The contract of a `DatasetStore`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fairtrial.model.case import Case
from fairtrial.model.dataset import DatasetVersion
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.testing.store.facts import NOON, Store


def _cases(*ids: str) -> list[Case]:
    return [Case(id=case_id, input={"question": case_id}, split="test") for case_id in ids]


class DatasetStoreContract:
    """Subclass it in a test module, name the class `Test…`, and override `store`."""

    @pytest.fixture
    def store(self) -> Iterator[Store]:
        """Give an empty store."""
        raise NotImplementedError

    def test_a_case_comes_back_as_it_went_in(self, store: Store) -> None:
        """All fields of a case survive, the order of an object's keys included."""
        case = Case(
            id="naïve ☃",
            input={"z": [1, 2.5, None, True], "a": "half a pair: \ud83d", "big": 2**70},
            expected=["x"],
            metadata={"repository": "r"},
            tags=("slow", "net"),
            split="train",
            condition="attack",
        )
        version, _ = store.datasets.add_version("d", [case])
        (kept,) = store.datasets.cases(version)
        assert kept == case
        assert list(kept.input) == ["z", "a", "big"]

    def test_a_large_case_comes_back(self, store: Store) -> None:
        """An input of any size survives."""
        text = "".join(str(n) for n in range(400_000))
        version, _ = store.datasets.add_version("d", [Case(id="c", input=text)])
        assert [case.input for case in store.datasets.cases(version)] == [text]

    def test_a_version_tells_what_it_holds(self, store: Store) -> None:
        """Number, count and splits are those of its cases."""
        cases = [*_cases("a", "b"), Case(id="c", input=1)]
        version, is_new = store.datasets.add_version("d", cases)
        assert is_new
        assert (version.ref, version.n_cases, version.splits) == ("d@1", 3, {"test": 2, "": 1})
        assert len(version.digest) == 64
        assert store.datasets.version("d") == version

    def test_the_same_cases_make_no_new_version(self, store: Store) -> None:
        """Same cases in the same order are the same version."""
        first, _ = store.datasets.add_version("d", _cases("a", "b"))
        assert store.datasets.add_version("d", iter(_cases("a", "b"))) == (first, False)

    def test_another_order_is_another_version(self, store: Store) -> None:
        """The order of cases belongs to a version."""
        first, _ = store.datasets.add_version("d", _cases("a", "b"))
        second, is_new = store.datasets.add_version("d", _cases("b", "a"))
        assert is_new
        assert (second.number, second.digest == first.digest) == (2, False)

    def test_content_that_goes_back_is_a_new_version(self, store: Store) -> None:
        """An older content makes a new number of the old digest."""
        first, _ = store.datasets.add_version("d", _cases("a"))
        store.datasets.add_version("d", _cases("b"))
        third, is_new = store.datasets.add_version("d", _cases("a"))
        assert is_new
        assert (third.number, third.digest) == (3, first.digest)
        assert store.datasets.version(f"d@{first.digest[:6]}") == third
        assert list(store.datasets.cases(third)) == _cases("a")

    def test_a_failed_addition_leaves_nothing(self, store: Store) -> None:
        """An iterable that fails half way stores no version."""

        def failing() -> Iterator[Case]:
            yield from _cases(*(f"case-{n}" for n in range(1_000)))
            raise OSError("the file ended")

        with pytest.raises(OSError, match="the file ended"):
            store.datasets.add_version("d", failing())
        assert store.datasets.versions() == []
        version, is_new = store.datasets.add_version("d", _cases("a"))
        assert (version.number, is_new) == (1, True)

    def test_a_case_that_is_there_twice_is_refused(self, store: Store) -> None:
        """Case id and condition name one case of a version; other conditions are other cases."""
        store.datasets.add_version("d", [Case("a", 1), Case("a", 1, condition="attack")])
        with pytest.raises(UsageError, match="case a is there more than once"):
            store.datasets.add_version("d", _cases("a", "b", "a"))

    @pytest.mark.parametrize(
        "case",
        [Case("a", float("nan")), Case("a", {"x": object()}), Case("\ud83d", 1)],
        ids=["nan", "object", "half a pair"],
    )
    def test_a_case_that_no_file_can_hold_is_refused(self, store: Store, case: Case) -> None:
        """What is no JSON value is refused with the case's id."""
        with pytest.raises(UsageError, match=r"^case "):
            store.datasets.add_version("d", [case])
        assert store.datasets.versions() == []

    def test_cases_come_in_the_order_asked(self, store: Store) -> None:
        """Positions may be in any order and repeat."""
        version, _ = store.datasets.add_version("d", _cases(*(f"{n:03}" for n in range(300))))
        asked = [299, 0, 7, 7, *range(200)]
        got = store.datasets.cases(version, asked)
        assert [case.id for case in got] == [f"{position:03}" for position in asked]
        assert [case.id for case in store.datasets.cases(version)][-1] == "299"

    def test_a_position_that_is_not_there_is_an_error(self, store: Store) -> None:
        """No case is made up."""
        version, _ = store.datasets.add_version("d", _cases("a"))
        with pytest.raises(NotFoundError, match="no case 1 in d@1"):
            list(store.datasets.cases(version, [0, 1]))

    def test_the_outline_goes_with_the_cases(self, store: Store) -> None:
        """It has position, names, split and digest of every case, in order."""
        cases = [*_cases(*(f"{n:05}" for n in range(2_500))), Case("x", 1, condition="attack")]
        version, _ = store.datasets.add_version("d", cases)
        outline = list(store.datasets.outline(version))
        assert [(at.position, at.id, at.condition, at.split) for at in outline] == [
            (position, case.id, case.condition, case.split) for position, case in enumerate(cases)
        ]
        assert len({at.digest for at in outline}) == len(cases)

    def test_an_empty_version_is_a_version(self, store: Store) -> None:
        """No cases are no error here."""
        version, is_new = store.datasets.add_version("d", [])
        assert (is_new, version.n_cases) == (True, 0)
        assert not list(store.datasets.cases(version))
        assert not list(store.datasets.outline(version))

    def test_versions_are_found_by_name_number_and_digest(self, store: Store) -> None:
        """`NAME` is the newest; `@` pins a number or six digits and more."""
        first, _ = store.datasets.add_version("d@x", _cases("a"))
        second, _ = store.datasets.add_version("d@x", _cases("b"))
        for ref, wanted in {
            "d@x": second,
            "d@x@1": first,
            f"d@x@{first.digest}": first,
            f"d@x@{second.digest[:6].upper()}": second,
        }.items():
            assert store.datasets.version(ref) == wanted

    @pytest.mark.parametrize(
        "ref", ["bug", "bugs@0", "bugs@2", "bugs@ffffff", "bugs@fff%", "other@1", ""]
    )
    def test_what_is_not_there_is_said_to_be_missing(self, store: Store, ref: str) -> None:
        """The error says what to do."""
        store.datasets.add_version("bugs", _cases("a"))
        with pytest.raises(NotFoundError) as caught:
            store.datasets.version(ref)
        assert caught.value.fix
        assert ref != "bug" or "did you mean bugs?" in caught.value.fix

    def test_a_version_of_another_store_is_missing(self, store: Store) -> None:
        """Nothing is read for a version that is not here."""
        foreign = DatasetVersion("d", 1, "0" * 64, NOON, 1, {})
        with pytest.raises(NotFoundError):
            store.datasets.cases(foreign)
        with pytest.raises(NotFoundError):
            store.datasets.outline(foreign)

    def test_versions_are_listed(self, store: Store) -> None:
        """The newest of each dataset by name, or all of one, newest first."""
        z1, _ = store.datasets.add_version("z", _cases("a"))
        z2, _ = store.datasets.add_version("z", _cases("b"))
        a1, _ = store.datasets.add_version("a", _cases("b"))
        assert store.datasets.versions() == [a1, z2]
        assert store.datasets.versions("z") == [z2, z1]
        assert store.datasets.versions("none") == []
