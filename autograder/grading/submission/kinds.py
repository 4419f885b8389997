"""What a file is that should be a notebook and is none, and what its owner can do about it: a table."""

import itertools
import re
from typing import NamedTuple

HEAD = 4000  # bytes by which a file is known
MOST_NAMED = 3  # conflicts or files, in one sentence
DOWNLOAD = "Download the notebook again (.ipynb), and hand in that file."
UNPACK = "Unpack it, and hand in the .ipynb file that is in it."
EXPORT = (
    "Hand in the notebook itself (.ipynb): in JupyterLab File → Download, in Colab File → Download → Download .ipynb."
)
FETCHED = "Fetch the notebook itself{}, and hand in that file."
SAVED = "Save the notebook in Jupyter or Colab again, and hand in that file."

MARK = re.compile(r"^(?:<{7}|\|{7}|={7}|>{7})(?=[ \r\n]|\Z)", re.MULTILINE)  # as git writes them, and others
MOST_MARKS = 10_000  # that are looked at


class Kind(NamedTuple):
    """A kind of file."""

    begins: bytes  # how such a file begins, as an expression; spaces in front of it are left out
    what: str  # what it is, to be put behind "it is"
    advice: str  # what to do

    def __str__(self) -> str:
        return f"The file is no notebook: it is {self.what}. {self.advice}"


# The first that fits counts.
KINDS = (
    Kind(rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis|PK.*(?:word|xl|ppt)/", "an office document", EXPORT),
    Kind(rb"PK\x03\x04.*data\.pkl", "what PyTorch saves, such as trained weights", EXPORT),
    Kind(rb"PK\x03\x04.*\.npy", "what NumPy saves", EXPORT),
    Kind(rb"PK(?:\x03\x04|\x05\x06|\x07\x08)", "a zip archive", UNPACK),
    Kind(rb"\x1f\x8b|BZh[1-9]|\xfd7zXZ|7z\xbc\xaf|Rar!|\x28\xb5\x2f\xfd|.{257}ustar", "a packed archive", UNPACK),
    Kind(rb"%PDF", "a PDF", EXPORT),
    Kind(rb"%!PS", "a page for a printer (PostScript)", EXPORT),
    Kind(rb"\x89PNG|\xff\xd8\xff|GIF8|II\*\0|MM\0\*|BM.{4}\0{4}|RIFF.{4}WEBP|.{4}ftyphei|<svg\b", "a picture", EXPORT),
    Kind(rb".{4}ftyp|\x1aE\xdf\xa3|RIFF|ID3", "a film or a recording", EXPORT),
    Kind(rb"\xd0\xcf\x11\xe0|\{\\rtf", "an office document", EXPORT),
    Kind(rb"\x4c\0\0\0\x01\x14\x02\0|book\0{4}mark", "a shortcut to a file elsewhere", FETCHED.format("")),
    Kind(
        rb"\[InternetShortcut\]|\[Desktop Entry\]|.{0,600}<plist.{0,400}<key>URL</key>",
        "a link to a web page",
        DOWNLOAD,
    ),
    Kind(rb"\0\x05\x16\x07", "what macOS keeps beside a file, not the file", EXPORT),
    Kind(rb"bplist00|.{0,400}<plist\b", "a list of settings of macOS", EXPORT),
    Kind(rb"SQLite format 3|\x89HDF|\x93NUMPY|\x80[\x02-\x05]|\x7fELF|MZ.{58}", "data of another program", EXPORT),
    Kind(
        rb"version https://(?:git-lfs\.github\.com|hawser\.github\.com)/",
        "a pointer of Git LFS",
        FETCHED.format(" (`git lfs pull`)"),
    ),
    Kind(
        rb"\S{0,300}[/\\]annex[/\\]objects[/\\]|\S{0,300}\.git/annex/",
        "a pointer of git-annex",
        FETCHED.format(" (`git annex get`)"),
    ),
    Kind(
        rb"(?:.{0,400}\n)?(?:outs|deps):\s*\n\s*- (?:md5|hash|path|size)",
        "a pointer of DVC",
        FETCHED.format(" (`dvc pull`)"),
    ),
    Kind(
        rb"\{[^{}]{0,1500}\"(?:doc_id|resource_id|shortcutDetails)\"|\{\s*\"url\"\s*:\s*\"https?://[^{}]*\}\s*\Z",
        "a link of Google Drive",
        DOWNLOAD,
    ),
    Kind(rb"https?://\S+\s*\Z", "nothing but a link", DOWNLOAD),
    Kind(rb"[^\s{}\[\]\"]{1,400}\.ipynb\s*\Z", "nothing but the name of a file, as a link in git", FETCHED.format("")),
    Kind(
        rb"(?:From: <?Saved by|MIME-Version:|Return-Path:|Received:|From \S+@|Delivered-To:)",
        "a saved web page or mail",
        EXPORT,
    ),
    Kind(rb"<\?xml|<[a-z!]", "a web page", EXPORT),
    Kind(rb"(?:diff --git |Index: |--- a/|From [0-9a-f]{40} )", "a list of changes (a patch)", EXPORT),
    Kind(rb"\\documentclass|%.{0,200}\n\\", "a text for LaTeX", EXPORT),
    Kind(rb"\{\s*(?:\xe2\x80\x9c|\xe2\x80\x9d|\xe2\x80\x9e)", "a notebook with the quotes of a word processor", SAVED),
    Kind(rb"\{\s*'", "a notebook as Python prints it, which is no JSON", SAVED),
    Kind(rb"\{\s*&quot;", "a notebook as a web page shows it", DOWNLOAD),
    Kind(rb"eyAg|eyJ|ewog|ewoJ", "a notebook in Base64", "Decode it (`base64 --decode`), and hand in what comes out."),
    Kind(rb"---\s*\n.{0,1000}\b(?:jupytext|kernelspec)\b", "a notebook as text (Jupytext)", EXPORT),
    Kind(rb"#!.{0,80}python|#.{0,20}coding[:=]|\"\"\"|%%?\w+|!\w", "a Python script", EXPORT),
    Kind(
        rb"(?:#[^\n]*\n\s*){0,60}(?:import |from \S+ import |def |class |@\w|# ?%%|# In ?\[|print\()",
        "a Python script",
        EXPORT,
    ),
    Kind(rb"(?:[^\n{}]*\n){0,80}(?:```|#{1,6} |!\[|\* |- )", "a Markdown text", EXPORT),
)


def kind_of(raw: bytes, text: str) -> Kind | None:
    """What a file is, by how it begins, as bytes or as text; None where that is not known."""
    ends = raw[:HEAD] + raw[HEAD:][-HEAD:]  # a zip archive lists at its end what is in it
    heads = [head.lstrip() for head in (ends, text[:HEAD].encode("utf-8", "replace"))]
    flags = re.DOTALL | re.IGNORECASE
    return next((kind for kind in KINDS if any(re.match(kind.begins, head, flags) for head in heads)), None)


class Merge(NamedTuple):
    """A merge that was not finished."""

    lines: list[tuple[int, int]]  # the first and the last line of each conflict
    # the text with our side taken everywhere, and with theirs; none where the marks do not fit together
    sides: tuple[str, ...]

    def __str__(self) -> str:
        places = [f"{first}–{last}" if first != last else str(first) for first, last in self.lines[:MOST_NAMED]]
        more = f" and {len(self.lines) - MOST_NAMED} more places" if len(self.lines) > MOST_NAMED else ""
        return (
            f"The file is a notebook in which a merge was not finished: git's conflict marks stand in "
            f"line{'s' * (len(places) > 1 or '–' in places[0])} {', '.join(places)}{more}. Choose one version with "
            "`git checkout --ours` or `git checkout --theirs` and the file's name, open it in Jupyter, save it, and "
            "hand it in again."
        )


def unfinished_merge(text: str) -> Merge | None:
    """The conflicts that a merge left in a notebook's text; None where there are none."""
    marks = list(itertools.islice(MARK.finditer(text), MOST_MARKS + 1))
    if not {"<", ">"} & {mark[0][0] for mark in marks}:
        return None
    lines: list[tuple[int, int]] = []
    ours: list[str] = []
    theirs: list[str] = []
    begun, line, before, seen, fits = 0, 1, 0, ">", len(marks) <= MOST_MARKS
    for mark in marks:
        line += text.count("\n", before, mark.start())
        sign, piece, before = mark[0][0], text[before : mark.start()], mark.start()
        piece = piece.partition("\n")[2] if ours or begun else piece  # without the line of the mark itself
        fits &= sign in {">": "<", "<": "|=", "|": "=", "=": ">"}[seen]
        if seen in "<>":
            ours.append(piece)
        if seen in "=>":
            theirs.append(piece)
        begun = begun if begun and sign != "<" else line
        if sign == ">":
            lines.append((begun, line))
            begun = 0
        seen = sign
    if begun:
        lines.append((begun, line))
    rest = text[before:].partition("\n")[2]
    sides = ("".join([*ours, rest]), "".join([*theirs, rest])) if fits and seen == ">" else ()
    return Merge(lines, sides)
