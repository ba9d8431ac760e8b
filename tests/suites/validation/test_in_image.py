"""A task in an image: what a program in it could find counts, too."""

from __future__ import annotations

from pathlib import Path

from tests.suites.harbor_folders import DOCKERFILE, TEST_SH, harbor_task
from tests.suites.validation.trial import failed, of, validation_of

from fairtrial.suites.folders import read_task
from fairtrial.suites.validation.findings import Check, Validation


def validation_in(folder: Path) -> Validation:
    task, home = read_task(folder, folder), folder.parent / "home"
    files = folder / "environment"
    return validation_of(home, task, level=None, k=1, folder=str(folder), files=files)


def test_a_task_in_harbor_s_form_validates(image: str, tmp_path: Path) -> None:
    validation = validation_in(harbor_task(tmp_path / "hello", image))
    assert validation.reason is None
    assert validation.level == "image"
    assert of(validation, Check.REFERENCE).facts == {"tries": 1, "passed": 1}


def test_a_copy_in_the_image_is_a_leak(image: str, tmp_path: Path) -> None:
    changed = {
        "environment/notes.txt": TEST_SH,
        "environment/Dockerfile": DOCKERFILE.format(image=image)
        + "COPY notes.txt /srv/data/notes.txt\nENV HINT='grep -q expected /tests'\n",
    }
    validation = validation_in(harbor_task(tmp_path / "hello", image, **changed))
    assert failed(validation) == [Check.LEAKS]
    assert str(validation.reason).startswith(
        "/srv/data/notes.txt in the image holds the hidden file test.sh (leave it out of the image)"
    )
