"""What stands in place of an answer until a student writes one, and the regions of a cell that students do not see."""

STUB_MESSAGE = "Your code here."
TEXT_STUB = "*Your answer here.*"  # in place of an answer in words
STUB = f'raise NotImplementedError("{STUB_MESSAGE}")'


def regions(source: str, kind: str) -> list[list[str]] | None:
    """Return the lines of each `### BEGIN`/`### END` region of a kind, or None when the marks do not pair up."""
    contents: list[list[str]] = []
    inside = False
    for line in source.split("\n"):
        if line.strip() == f"### BEGIN {kind}" and not inside:
            contents.append([])
            inside = True
        elif line.strip() == f"### END {kind}" and inside:
            inside = False
        elif f"BEGIN {kind}" in line or f"END {kind}" in line:
            return None
        elif inside:
            contents[-1].append(line)
    return None if inside else contents


def without_regions(source: str, kind: str, stub: str | None = None) -> str:
    """Return the source without its regions of a kind, as nbgrader strips them for students."""
    kept, inside = [], False
    for line in source.split("\n"):
        if f"BEGIN {kind}" in line:
            inside = True
            if stub is not None:
                kept.append(line[: len(line) - len(line.lstrip())] + stub)
        elif f"END {kind}" in line:
            inside = False
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


def code_lines(lines: list[str]) -> list[str]:
    """Return the lines that are neither blank nor comment."""
    return [line for line in lines if line.strip() and not line.strip().startswith("#")]
