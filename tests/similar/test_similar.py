"""`autograder similar` lists pairs that share what the class does not, says what that is, and finds none elsewhere."""

import json
import random
import re
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from support.gradebook import LESSON
from support.guide import json_entries, json_keys
from support.sample_lesson import ROOT

from autograder import cli
from autograder.course.config import read_notebook
from autograder.course.paths import Course
from autograder.demo import sample_class
from autograder.report.write import SIMILAR_PAGE
from autograder.similar.pairs import pairs_of, tables_of
from autograder.similar.traits import Kind, Trait, traits_of

sys.path.insert(0, str(ROOT / "benchmarks"))

import similar as benchmark
from disguises import disguised
from independent_students import students

MULTI_HEAD = "02_multi_head_attention"
CODE = (Kind.STATEMENT, Kind.PHRASE)
HOSTILE = "</pre><script>alert(1)</script>"


def of_kinds(source: str, *kinds: Kind) -> set[Trait]:
    """The traits of these kinds."""
    return {trait for trait in traits_of(source) if trait.kind in kinds}


def hand_in(course: Path, student: str, answer: str, *cells: str) -> None:
    """Let a student hand in an answer to the small lesson, and cells of their own."""
    notebook = sample_class.released_notebook(course, LESSON)
    for cell in notebook.cells:
        if cell.id == "double":
            cell.source = answer
    notebook.cells += [nbformat.v4.new_code_cell(source) for source in cells]
    sample_class.hand_in(course, student, LESSON, notebook)


@pytest.fixture
def class_(course: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Thirty students, each with something of their own, and two who share an answer, words and a cell."""
    for number in range(30):
        name = f"name_{number}"
        answer = f"def double({name}):\n    # my way number {number} of thirty\n    return {name} * {number} + {name}"
        hand_in(course, f"s{number:02}", answer, f"print(double({number}), {number + 100})")
    shared = f"def double(x):\n    # {HOSTILE} twice is not thrice\n    thrice = x * 3\n    return thrice - x"
    hand_in(course, "ada", shared, "assert double(-7.25) == -14.5")
    hand_in(course, "bob", shared.replace("thrice =", "thrice  ="), "assert double( -7.25 )  ==  -14.5")
    with sample_class.open_gradebook(course) as gradebook:
        gradebook.update_or_create_student("ada", first_name="Ada", last_name="Lovelace")
    monkeypatch.chdir(course)
    return course


def test_names_format_and_comments_change_no_code() -> None:
    """Two sources that differ in names, spaces, annotations, texts and comments have the same statements."""
    one = 'def f(x: int, k=2):\n    """Say."""\n    total = x + k  # add\n    print(f"{total:05}")\n    return total'
    other = "def g(a, b = 2):\n  s = (a +\n    b)\n  print('it is so')\n  return s"
    assert of_kinds(one, *CODE) == of_kinds(other, *CODE) != set()
    assert Trait(Kind.NAME, "total") in traits_of(one) and Trait(Kind.COMMENT, "add") in traits_of(one)


def test_other_code_has_other_statements() -> None:
    """Another number, operator, method or order of names is another statement."""
    statements = [of_kinds(f"y = {text}", Kind.STATEMENT) for text in ("a + 1", "a - 1", "a + 2", "a.sum()", "1 + a")]
    assert len({frozenset(each) for each in statements}) == len(statements)


@pytest.mark.parametrize("source", ["def f(:", "x = '", "(" * 5000, "\0", "x = 1\n" * 5000, "!ls\n%time f(", "\ud800"])
def test_anything_can_be_read(source: str) -> None:
    """What is no Python, or too deep or long for it, is compared line by line."""
    assert all(line >= 1 for lines in traits_of(source).values() for line in lines)


@pytest.mark.parametrize(
    "source",
    [
        'x = """' + "\n".join(f"word{i}" for i in range(2000)) + '"""',
        "x = [\n" + ",\n".join(map(str, range(2800))) + "]",
    ],
    ids=["text", "list"],
)
def test_a_cell_takes_no_more_than_its_length_in_memory(source: str) -> None:
    """Neither the passages of a long text nor the phrases of a long statement keep each of its lines."""
    assert sum(map(len, traits_of(source).values())) < 4 * len(source)


def test_the_lines_are_those_of_the_statement() -> None:
    """A trait stands on the lines of its statement alone, not on those of the statements in it."""
    found = traits_of("if a:\n    # why\n    b = f(\n        a)\n")
    wanted = Kind.STATEMENT, Kind.COMMENT
    assert {trait.text: set(where) for trait, where in found.items() if trait.kind in wanted} == {
        "if a:": {1, 2},
        "why": {2},
        "v0 = f(a)": {3, 4},
    }


def test_what_is_common_or_known_makes_no_pair() -> None:
    """In a class of which a half has the same in all aspects, and all the rest what is known, there is no pair."""
    aspects = [f"exercise {number}" for number in range(6)]
    owners = ["all" if row % 2 else row for row in range(40)]
    class_ = [{aspect: {f"{aspect} of {owner}", "known"} for aspect in aspects} for owner in owners]
    assert pairs_of(tables_of(class_, {"known"})) == []
    class_[0] = {aspect: {f"{aspect} of 2", "known"} for aspect in aspects}
    (pair,) = pairs_of(tables_of(class_, {"known"}))
    assert (pair.first, pair.second) == (0, 2) and set(pair.aspects) == set(aspects)


def test_one_aspect_alone_makes_no_pair() -> None:
    """However much two share in one exercise, they are no pair if they share nothing else."""
    class_ = [{aspect: {(aspect, row)} for aspect in "abcdef"} for row in range(60)]
    class_[0]["a"] = class_[1]["a"] = {("a", part) for part in "xyz" * 9}
    assert pairs_of(tables_of(class_, ())) == []
    assert pairs_of({}) == pairs_of(tables_of([{"a": {1}}], ())) == []


def test_a_pair_is_named_and_shown(class_: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The terminal says who shares what, and the page shows it side by side, with all that was written as text."""
    assert cli.main(["similar", f"{LESSON}/"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{LESSON}: 1 pair among 32 hand-ins to look at together.\n")
    assert "  ada (Ada Lovelace) and bob share 2 rare lines in `double`; a rare line in cells of their own;" in said
    assert "a comment; " in said and "the name `thrice`" in said
    page = BeautifulSoup((class_ / SIMILAR_PAGE).read_bytes(), "html.parser")
    assert not page.find_all("script") and HOSTILE in page.text
    marked = [mark.text for mark in page.select(".beside mark")]
    assert "thrice = x * 3" in marked[0] and not any("def double" in text for text in marked)
    assert (class_ / SIMILAR_PAGE).stat().st_mode & 0o777 == 0o600


def test_json_says_the_same(class_: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As JSON, the pair has its ids, what is shared and where, under the keys of the guide; no page is written."""
    (class_ / "submitted" / "cem" / LESSON).mkdir(parents=True)
    assert cli.main(["similar", LESSON, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["students"]["ada"] == "Ada Lovelace" and said["left_out"] == ["cem"] and len(said["compared"]) == 32
    (pair,) = said["pairs"]
    keys = json_entries("similar")
    assert said.keys() == json_keys("similar") and pair.keys() == keys["pairs"]
    assert all(share.keys() == keys["pairs.shares"] for share in pair["shares"])
    assert pair["students"] == ["ada", "bob"]
    assert {"kind": "name", "where": "names", "texts": ["thrice"]} in pair["shares"]
    assert not (class_ / SIMILAR_PAGE).exists()


def test_no_pair_is_said_plainly(course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    """Six who have nothing in common are no pair, and the page says so too."""
    monkeypatch.chdir(course)
    for number in range(6):
        hand_in(course, f"s{number}", f"def double(x{number}):\n    return x{number} * {number}")
    assert cli.main(["similar", LESSON, "--output", "elsewhere.html"]) == 0
    assert "no pair among 6 hand-ins shares more than chance brings about." in capsys.readouterr().out
    assert "no pair among 6 hand-ins" in (course / "elsewhere.html").read_text("utf-8")


def test_a_class_with_the_published_solution_is_told_so(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """Who handed it in is named, whatever variables are called there; what few others share cannot be told."""
    monkeypatch.chdir(course)
    (solution,) = [cell.source for cell in read_notebook(Course.at(course).source(LESSON)).cells if cell.id == "double"]
    hand_in(course, "ada", solution)
    hand_in(course, "bob", re.sub(r"\bx\b", "twice_this", solution) + "\n# mine\n")
    for number in range(5):
        hand_in(course, f"s{number}", f"def double(x):\n    return x * {number} + x")
    sample_class.hand_in(course, "zoe", LESSON, sample_class.released_notebook(course, LESSON))
    another = course / "submitted" / "yan" / LESSON / f"{LESSON}.ipynb"
    another.parent.mkdir(parents=True)
    another.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("y = 1")])))
    with sample_class.open_gradebook(course) as gradebook:
        gradebook.add_student("yan", first_name="Yan", last_name="Li")
    assert cli.main(["similar", LESSON]) == 0
    said = capsys.readouterr().out
    assert "What yan (Yan Li) handed in cannot be graded, and was left out." in said
    assert "5 of 8 hand-ins are a student's own, the others being blank or the published solution; with fewer" in said
    assert "The published solution, in every exercise, was handed in by ada and bob.\n" in said
    assert cli.main(["similar", LESSON, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["published"] == ["ada", "bob"] and told["own"] == 5


def test_a_lesson_that_is_none(course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    """An unknown lesson ends with 2, and with the one that may have been meant."""
    monkeypatch.chdir(course)
    assert cli.main(["similar", "01_dubling"]) == 2
    assert capsys.readouterr().err.endswith(f" Did you mean `{LESSON}`?\n")


def test_independent_students_make_hardly_a_pair() -> None:
    """In a class of 120 of the benchmark's there are at most two pairs, of 7,140, who share too much by chance."""
    assert max(benchmark.independent_classes("04_encoder_decoder_blocks", 5, students=120)) <= 2


def test_a_disguised_copy_holds_the_code_of_what_it_was_made_of() -> None:
    """Other names, another format and no comments change no statement of an answer."""
    chance = random.Random(0)
    (written,) = students(MULTI_HEAD, 1, seed=4)
    for kind in ("other names", "other names, no comments", "other names, other format"):
        copy = disguised(written, kind, MULTI_HEAD, chance)
        for exercise, source in written.answers.items():
            assert of_kinds(copy.answers[exercise], Kind.STATEMENT) == of_kinds(source, Kind.STATEMENT), kind
