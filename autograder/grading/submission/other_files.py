"""What was handed in beside a notebook, for its cells to import or read."""

import itertools
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from autograder import files
from autograder.grading.submission.reader import MOST_SEEN, SECRET, TIME

MOST_FILES = 20
OTHERS = "others"  # the folder beside a notebook that holds what else was handed in


def read_other_files(notebook: Path, most_bytes: int) -> tuple[bytes, list[str]]:
    """Read what lies beside a notebook and below, modules first; no links, and nothing hidden.

    Return the files, of `most_bytes` together, as `unpacked_files` reads them, those in `OTHERS` as if they lay beside
    the notebook; and a note where there are too many.
    """
    folder, found, left, left_out = notebook.parent, dict[str, bytes](), most_bytes, 0
    unused = (TIME, SECRET, "__pycache__")
    found_here = files.walk(folder, wanted=lambda name: name[0] != "." and name not in unused and name.isprintable())
    seen = itertools.islice(found_here, MOST_SEEN)
    for path in sorted(seen, key=lambda path: (path.suffix != ".py", path)):
        name = path.relative_to(folder).as_posix().removeprefix(f"{OTHERS}/")
        if path == notebook or name in found or (file := files.open_regular(path)) is None:
            continue
        with file:
            data = file.read(left + 1) if len(found) < MOST_FILES else None
        if data is None or len(data) > left:
            left_out += 1
        else:
            found[name], left = data, left - len(data)
    if not found:
        return b"", []
    limit = f"at most {MOST_FILES} are taken, of {most_bytes / 2**20:g} MB in all"
    notes = [f"Of {len(found) + left_out} files beside the notebook its cells found {len(found)}: {limit}."]
    return msgspec.msgpack.encode(found), notes if left_out else []


def unpacked_files(packed: bytes) -> dict[str, bytes]:
    """The files by their paths from the notebook."""
    return msgspec.msgpack.decode(packed, type=dict[str, bytes]) if packed else {}


def put(files: Mapping[str, bytes], folder: Path, *, read_only: bool = False) -> None:
    """Write files, by their paths, into a folder; one that has the name of another's folder is left out."""
    for name, data in files.items():
        with suppress(OSError):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(0o444 if read_only else 0o644)
