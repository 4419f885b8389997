"""nbgrader's exchange, as `nbgrader_config.py` has it collect: only what a student's folder itself holds.

The inbound folder of a hub is the students' to write to. nbgrader follows their links with the instructor's rights, so
that one to `solutions/` is collected, graded with full marks, and comes back as feedback with the hidden tests.
"""

import os
import pwd
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect as NbgradersCollect

from autograder import files
from autograder.collect.download import Download
from autograder.collect.groups import GROUPS, HANDED_IN_BY, read_groups
from autograder.collect.hand_in import HandIn, read
from autograder.collect.place import keep_earlier
from autograder.course.config import CourseError
from autograder.course.dates import recorded_time
from autograder.course.names import printable
from autograder.course.paths import Course, is_folder_name
from autograder.grading.gradebook.database import Gradebook
from autograder.grading.gradebook.reader import read_students
from autograder.grading.submission.other_files import OTHERS
from autograder.grading.submission.reader import SECRET, TIME


class ExchangeCollect(NbgradersCollect):  # type: ignore[misc]  # nbgrader has no types
    """Collects the notebook, moves all else into `others/`, and leaves out links and folders of other owners."""

    src_records: list[dict[str, Any]]

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """Who handed in a folder of the inbound one, and when; without a name where it is not to be collected."""
        student, time = self._student_and_time(path)
        record = {"username": student, "filename": os.path.basename(path), "timestamp": datetime.min}
        try:
            record["timestamp"] = recorded_time(time)
            why = self._why_not(Path(path), student)
        except ValueError:
            why = "its name holds no time"
        if why:
            self.log.warning("%s is not collected: %s.", printable(path), why)
            record["username"] = ""
        return record

    def _student_and_time(self, path: str) -> tuple[str, str]:
        """What `nbgrader submit` writes into the name of a folder: `ada+01_attention+2026-03-02 09:00:00 UTC+1a2b`."""
        student, _, rest = os.path.basename(path).partition(f"+{self.coursedir.assignment_id}+")
        return student, rest.partition("+")[0]

    def _why_not(self, folder: Path, student: str) -> str:
        if folder.is_symlink() or not folder.is_dir():
            return "it is a link, or no folder"
        if not is_folder_name(student):
            return "its name holds no student's"
        owner = folder.stat().st_uid
        try:
            owners = {pwd.getpwuid(owner).pw_name}
        except KeyError:
            owners = set()
        if self.check_owner and student not in owners:
            return f"it is owned by {', '.join(owners) or f'user {owner}'}, not by {printable(student)}"
        try:
            with Download(folder):
                return ""
        except CourseError as error:
            return str(error)

    def init_src(self) -> None:
        """Find the newest hand-in of everybody, or the newest in time; of a group the newest of all its members'."""
        super().init_src()
        self.src_records = [record for record in self.src_records if record["username"]]
        course = Course(self.config)
        if not (course.root / GROUPS).exists():
            return
        gradebook, newest = Gradebook(course.db_url, course.root), dict[str, dict[str, Any]]()
        try:
            with gradebook.reading() as connection:
                students = {record["username"] for record in self.src_records}
                groups = read_groups(course.root, read_students(connection), students)
        except CourseError as error:
            self.fail(str(error))
        for record in sorted(self.src_records, key=lambda record: record["timestamp"]):
            for member in groups.get(record["username"], [record["username"]]):
                newest[member] = record | {"username": member, "by": record["username"]}
        self.src_records = [newest[member] for member in sorted(newest)]
        for record in self.src_records:
            if record["by"] != record["username"]:
                self.log.warning("%s: %s", printable(record["username"]), printable(HANDED_IN_BY.format(record["by"])))

    def copy_files(self) -> None:
        """Collect what was found; of a hand-in that a newer one replaces, nbgrader keeps nothing."""
        course, lesson = Course(self.config), self.coursedir.assignment_id
        for record in self.src_records:
            folder = course.submitted(record["username"], lesson)
            there = self.coursedir.get_existing_timestamp(str(folder)) if folder.is_dir() else record["timestamp"]
            is_newer = self.update and (there is None or record["timestamp"] > there)
            if is_newer or (self.before_duedate and there != record["timestamp"]):
                keep_earlier(course, record["username"], lesson)
        self.check_owner = False  # as `_path_to_record` did; what a group handed in is owned by one of them
        super().copy_files()

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Put what a folder holds into submitted/."""
        student, time = self._student_and_time(src)
        with Download(Path(src)) as download:
            contents = read(HandIn(student, student, tuple(download.files)), self.coursedir.assignment_id)
        if (secret := contents.files.pop(f"{OTHERS}/{SECRET}", None)) is not None:
            contents.files[SECRET] = secret
        contents.files[TIME] = f"{time}\n".encode()
        for text in (*contents.notes, *contents.problems):
            self.log.warning("%s: %s", printable(student), printable(text))
        for path, data in contents.files.items():
            Path(dest, path).parent.mkdir(parents=True, exist_ok=True)
            with files.create(Path(dest, path)) as file:
                file.write(data)
        if self.coursedir.groupshared:
            for folder, _, names in os.walk(dest):
                os.chmod(folder, 0o2770)
                for each in names:
                    os.chmod(os.path.join(folder, each), 0o660)
