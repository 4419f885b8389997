"""The gradebook's database, nbgrader's and four tables of our own: SQLite or PostgreSQL, to write or to read."""

import fcntl
import json
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import nbgrader
import sqlalchemy as sa
from alembic.script import ScriptDirectory
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from autograder.course.config import CourseError
from autograder.grading.results import Result

LOCK_SECONDS = 30.0  # how long another program may keep the gradebook locked
CONNECT_SECONDS = 10
ADVISORY_KEY = 0x6175746F67726164  # "autograd"; PostgreSQL's locks have numbers, for each database its own
IN_USE = "Another `autograder` command{} is writing to the gradebook at {}. Wait until it has ended, then try again."
RELEASE = "Run `autograder release`, then try again."

# A MetaData of its own: nbgrader neither makes nor upgrades these tables. No foreign keys: they would keep nbgrader
# from removing a student. A row counts as long as nbgrader has the submission that it names.
RESULTS = sa.Table(
    "autograder_result",
    sa.MetaData(),
    sa.Column("lesson", sa.String(128), primary_key=True),
    sa.Column("student", sa.String(128), primary_key=True),
    sa.Column("submission_id", sa.String(32), nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
    sa.Column("notebook_sha256", sa.String(64), nullable=False),
    sa.Column("recorded", sa.DateTime, nullable=False),
    sa.Column("result", sa.Text, nullable=False),  # JSON in ASCII, which every database takes whatever a student wrote
)
# The results of hand-ins that do not count.
OTHERS = sa.Table(
    "autograder_other_result",
    RESULTS.metadata,
    sa.Column("submission_id", sa.String(32), primary_key=True),
    sa.Column("recorded", sa.DateTime, primary_key=True),
    sa.Column("lesson", sa.String(128), nullable=False),
    sa.Column("student", sa.String(128), nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
    sa.Column("submitted", sa.DateTime),
    sa.Column("result", sa.Text, nullable=False),
)
TALKS = sa.Table(
    "autograder_talk",
    RESULTS.metadata,
    sa.Column("lesson", sa.String(128), primary_key=True),
    sa.Column("student", sa.String(128), primary_key=True),
    sa.Column("held", sa.Date, nullable=False),
)
REQUESTS = sa.Table(
    "autograder_request",
    RESULTS.metadata,
    sa.Column("lesson", sa.String(128), primary_key=True),
    sa.Column("student", sa.String(128), primary_key=True),
    sa.Column("exercise", sa.String(128), primary_key=True),
    sa.Column("submission_id", sa.String(32), nullable=False),
    sa.Column("words", sa.Text, nullable=False),
    sa.Column("asked", sa.DateTime, nullable=False),
    sa.Column("given", sa.Text, nullable=False),  # a digest of what there was by hand when it came
)


def own_rows(connection: sa.Connection, table: sa.Table, query: sa.Select[Any]) -> Sequence[Any]:
    """Return what a query finds in a table of our own; nothing before the first command that writes has made it."""
    return connection.execute(query).all() if connection.dialect.has_table(connection, table.name) else ()


def result_in(column: str) -> Result | None:
    """Read a result as our tables have it; None where a version wrote it that recorded something else."""
    try:
        return Result.from_json(json.loads(column))
    except ValueError:
        return None


class Gradebook:
    """Where a course's gradebook is (a file, or a server's address without its password), and a connection to it."""

    def __init__(self, db_url: str, root: Path) -> None:
        self._url = _address(db_url, root)
        self._is_file = self._url.get_backend_name() == "sqlite"
        file = self._url.database if self._is_file else None
        self.where = file or self._url.render_as_string(hide_password=True)
        # What grading again changed, and which lesson is which column in Canvas: beside a file, or in the course.
        self.history, self.columns = (
            Path(f"{file or root / 'gradebook.db'}.{kind}") for kind in ("history.jsonl", "canvas.json")
        )

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Be the only one who records results in it."""
        with ExitStack() as stack:
            with explained(self.where):
                self._require_file()
                if self._is_file:
                    stack.enter_context(_only_one(self.where))
                connection = stack.enter_context(closing(_engine(self._url, self.where, writing=True).connect()))
                _check_schema(connection, self.where)
                RESULTS.metadata.create_all(connection)
                connection.commit()
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """See one state of it, whoever writes meanwhile, and change nothing."""
        with explained(self.where):
            self._require_file()
            with closing(_engine(self._url, self.where, writing=False).connect()) as connection:
                _check_schema(connection, self.where)
                yield connection

    def _require_file(self) -> None:
        if self._is_file and not Path(self.where).is_file():
            raise CourseError(f"There is no gradebook at {self.where}. {RELEASE}")


def _address(db_url: str, root: Path) -> sa.URL:
    """Parse a database's address; a relative path starts at the course, as in nbgrader."""
    try:
        url = sa.make_url(db_url)
        url.get_dialect()
        is_file = url.get_backend_name() == "sqlite"
        return url.set(database=str(root / (url.database or ""))) if is_file else url
    except SQLAlchemyError as error:
        raise CourseError(
            f"CourseDirectory.db_url is no address of a database ({error}). Mend it in nbgrader_config.py."
        ) from None


@contextmanager
def _only_one(database: str) -> Iterator[None]:
    """Hold the lock file beside a SQLite gradebook."""
    with open(f"{database}.lock", "a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise CourseError(IN_USE.format(f" ({file.read()})", database)) from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        yield
        file.truncate(0)


def _engine(url: sa.URL, where: str, *, writing: bool) -> sa.Engine:
    """Make an engine whose connections wait for a lock no longer than they should; one that writes is the only one."""
    is_file, driver = url.get_backend_name() == "sqlite", url.get_driver_name()
    wait = {"timeout": LOCK_SECONDS} if is_file else {}
    if driver.startswith("psycopg"):
        wait = {"connect_timeout": CONNECT_SECONDS}
    one_state = {} if is_file or writing else {"isolation_level": "REPEATABLE READ"}
    try:
        engine = sa.create_engine(url, poolclass=sa.NullPool, connect_args=wait, **one_state)
    except ModuleNotFoundError as error:
        raise CourseError(
            f"The gradebook at {where} needs {error.name}, which is not installed. "
            'For PostgreSQL, run `pip install "psycopg[binary]"`.'
        ) from None
    if is_file:
        begin = "BEGIN IMMEDIATE" if writing else "BEGIN"
        # A writer's COMMIT outlives a crash.
        pragma = "synchronous = EXTRA" if writing else "query_only = ON"
        sa.event.listen(engine, "connect", lambda connection, _: _prepare_sqlite(connection, pragma))
        sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    elif writing and url.get_backend_name() == "postgresql":
        sa.event.listen(engine, "connect", lambda connection, _: _prepare_postgresql(connection, where))
    return engine


def _prepare_sqlite(connection: Any, pragma: str) -> None:
    """Leave BEGIN to us: what is read is of one moment, and nobody writes between that and what we write."""
    connection.isolation_level = None
    connection.execute(f"PRAGMA {pragma}").close()


def _prepare_postgresql(connection: Any, where: str) -> None:
    """Take the lock of the one writer, which the server frees when the connection ends."""
    with closing(connection.cursor()) as cursor:
        cursor.execute(f"SET lock_timeout = {int(LOCK_SECONDS * 1000)}")
        cursor.execute(f"SELECT pg_try_advisory_lock({ADVISORY_KEY})")
        (free,) = cursor.fetchone()
    connection.commit()
    if not free:
        connection.close()
        raise CourseError(IN_USE.format("", where))


def _check_schema(connection: sa.Connection, where: str) -> None:
    """Refuse a database that this version of nbgrader did not make."""
    tables = sa.inspect(connection).get_table_names()
    if "assignment" not in tables:
        raise CourseError(f"The database at {where} is no gradebook yet. {RELEASE}")
    versions = sa.text("SELECT version_num FROM alembic_version")
    version = connection.scalar(versions) if "alembic_version" in tables else None
    newest = ScriptDirectory(ALEMBIC_DIR).get_current_head()
    if version != newest:
        raise CourseError(
            f"The gradebook at {where} has the tables of another nbgrader (version {version} of them; nbgrader "
            f"{nbgrader.__version__} has {newest}). Copy it to a safe place and run `nbgrader db upgrade`; "
            "if it comes from a newer nbgrader, install that one."
        )


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Turn what a database says into what is so and what to do."""
    try:
        yield
    except SQLAlchemyError as error:
        original = error.orig if isinstance(error, DBAPIError) else error
        message = " ".join(str(original).split())
        if "database is locked" in message or getattr(original, "sqlstate", None) == "55P03":
            raise CourseError(
                f"Another program keeps the gradebook at {where} locked, for more than {LOCK_SECONDS:g} seconds. "
                "Close it, then try again; what is recorded stays."
            ) from error
        if isinstance(error, DBAPIError) and (error.connection_invalidated or "connect" in message):
            raise CourseError(
                f"The gradebook at {where} cannot be reached ({message}). Start its server, or mend "
                "CourseDirectory.db_url in nbgrader_config.py, then try again; what is recorded stays."
            ) from error
        raise CourseError(
            f"The gradebook at {where} could not be used ({message}). Mend that, or restore a copy, then try again; "
            "what is recorded stays."
        ) from error
