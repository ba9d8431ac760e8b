"""Eval tasks in the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, insert, select, update

from fairtrial.model.errors import NotFoundError
from fairtrial.model.eval_task import EvalTask, RepoStart, TaskStatus
from fairtrial.model.json import Json
from fairtrial.ports.suites import KeptTask
from fairtrial.store.blobs import Blobs
from fairtrial.store.codec import from_json, from_micros, to_json, to_micros, to_text
from fairtrial.store.database import Database
from fairtrial.store.eval_task_codec import facts_of, from_body, to_body, with_facts
from fairtrial.store.suite_tables import eval_task, eval_task_version

_WITH_VERSION = (
    select(eval_task, eval_task_version)
    .join(eval_task_version, eval_task.c.digest == eval_task_version.c.digest)
    .order_by(eval_task.c.project, eval_task.c.suite, eval_task.c.name)
)


class SqlSuiteStore:
    """The `SuiteStore` of a database."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self._database = database
        self._blobs = blobs

    def load(self, task: EvalTask, project: str, folder: str, now: datetime) -> KeptTask:
        """Keep a task in place of the one of its suite and name; see `SuiteStore`."""
        body, blob = self._blobs.pack(to_body(task))
        key = _key(project, task.suite, task.name)
        row = {
            **key,
            "digest": task.digest,
            "folder": to_text(folder),
            "facts": to_json(facts_of(task)).decode(),
            "loaded_at": to_micros(now),
        }
        with self._database.write() as connection:
            known = select(eval_task_version.c.digest).where(
                eval_task_version.c.digest == task.digest
            )
            if connection.execute(known).first() is None:
                version = {"digest": task.digest, "body": body, "blob": blob}
                connection.execute(
                    insert(eval_task_version), {**version, "status": TaskStatus.DRAFT.value}
                )
            connection.execute(delete(eval_task).where(*_is(key)))
            connection.execute(insert(eval_task), row)
            return self._kept(connection, _WITH_VERSION.where(*_is(key)))[0]

    def suites(self, project: str | None = None) -> Sequence[tuple[str, str]]:
        """Return the projects and names of suites, in order; see `SuiteStore`."""
        columns = (eval_task.c.project, eval_task.c.suite)
        statement = select(*columns).distinct().order_by(*columns)
        if project is not None:
            statement = statement.where(eval_task.c.project == to_text(project))
        with self._database.read() as connection:
            return [(row.project, row.suite) for row in connection.execute(statement)]

    def tasks(self, project: str, suite: str) -> Sequence[KeptTask]:
        """Return the tasks of a suite by name."""
        found = _WITH_VERSION.where(
            eval_task.c.project == to_text(project), eval_task.c.suite == to_text(suite)
        )
        with self._database.read() as connection:
            return self._kept(connection, found)

    def find(self, project: str, ref: str) -> Sequence[KeptTask]:
        """Return the tasks that a reference names; see `SuiteStore`.

        Raises:
            NotFoundError: there is none, or a name alone fits tasks of several suites.
        """
        suite, slash, name = ref.partition("/")
        here = _WITH_VERSION.where(eval_task.c.project == to_text(project))
        with self._database.read() as connection:
            found = self._kept(connection, here.where(eval_task.c.suite == to_text(suite)))
            if slash:
                found = [kept for kept in found if kept.task.name == name]
            elif not found:
                found = self._kept(connection, here.where(eval_task.c.name == to_text(ref)))
                if len(found) > 1:
                    raise NotFoundError(
                        f"{ref} is a task of several suites",
                        fix="name one: " + ", ".join(f"{kept.task.suite}/{ref}" for kept in found),
                    )
        if not found:
            raise NotFoundError(
                f"there is no suite and no eval task {ref}",
                where=project,
                fix="list them with: fairtrial eval list",
            )
        return found

    def version(self, digest: str) -> EvalTask:
        """Return the task with a digest.

        Raises:
            NotFoundError: there is none.
        """
        statement = select(eval_task_version).where(eval_task_version.c.digest == digest)
        with self._database.read() as connection:
            row = connection.execute(statement).one_or_none()
        if row is None:
            raise NotFoundError(f"there is no eval task with the digest {digest}")
        return from_body(self._blobs.unpack(row.body, row.blob))

    def folder(self, digest: str) -> str | None:
        """Return the folder of a task whose newest version has a digest; see `SuiteStore`."""
        statement = select(eval_task.c.folder).where(eval_task.c.digest == digest)
        ordered = statement.order_by(eval_task.c.loaded_at.desc()).limit(1)
        with self._database.read() as connection:
            return connection.execute(ordered).scalar_one_or_none()

    def snapshots(self) -> Mapping[str, str]:
        """Return the snapshots that newest versions begin with; see `SuiteStore`."""
        with self._database.read() as connection:
            found = [kept.task for kept in self._kept(connection, _WITH_VERSION)]
        return {
            task.start.snapshot: f"{task.suite}/{task.name}"
            for task in found
            if isinstance(task.start, RepoStart) and task.start.snapshot is not None
        }

    def judge(
        self, digest: str, status: TaskStatus, validation: Mapping[str, Json], now: datetime
    ) -> None:
        """Keep what the validation of a version came to; see `SuiteStore`.

        Raises:
            NotFoundError: there is no such version.
        """
        told = {
            "status": status.value,
            "validation": to_json(validation).decode(),
            "validated_at": to_micros(now),
        }
        statement = update(eval_task_version).where(eval_task_version.c.digest == digest)
        with self._database.write() as connection:
            if not connection.execute(statement.values(told)).rowcount:
                raise NotFoundError(f"there is no eval task with the digest {digest}")

    def forget(self, project: str, suite: str, name: str) -> None:
        """Forget that a task is of a suite; see `SuiteStore`.

        Raises:
            NotFoundError: there is no such task.
        """
        with self._database.write() as connection:
            statement = delete(eval_task).where(*_is(_key(project, suite, name)))
            if not connection.execute(statement).rowcount:
                raise NotFoundError(f"there is no eval task {suite}/{name}", where=project)

    def _kept(self, connection: Connection, statement: Select[Any]) -> list[KeptTask]:
        return [self._of(row) for row in connection.execute(statement)]

    def _of(self, row: Any) -> KeptTask:
        task = from_body(self._blobs.unpack(row.body, row.blob))
        at = row.validated_at
        return KeptTask(
            task=with_facts(task, from_json(row.facts)),
            project=row.project,
            folder=row.folder,
            loaded_at=from_micros(row.loaded_at),
            status=TaskStatus(row.status),
            validation=None if row.validation is None else from_json(row.validation),
            validated_at=None if at is None else from_micros(at),
        )


def _key(project: str, suite: str, name: str) -> dict[str, str | None]:
    return {"project": to_text(project), "suite": to_text(suite), "name": to_text(name)}


def _is(key: Mapping[str, str | None]) -> list[Any]:
    return [eval_task.c[name] == value for name, value in key.items()]
