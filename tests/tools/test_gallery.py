"""The gallery is complete, readable without seeing, and alone in one file."""

import base64
import re

import gallery
import pytest
from bs4 import BeautifulSoup

from autograder import draw

LOADERS = ["script", "link", "iframe", "frame", "object", "embed", "audio", "video", "source", "base", "form"]
ADDRESSES = ("src", "href", "srcset", "action", "data")


@pytest.fixture(scope="module")
def source() -> str:
    """The page, made once; the file stays, to be looked at."""
    return gallery.write()


@pytest.fixture(scope="module")
def page(source: str) -> BeautifulSoup:
    """The page, read."""
    return BeautifulSoup(source, "html.parser")


def test_every_public_function_of_draw_has_a_figure(page: BeautifulSoup) -> None:
    """What `draw` offers, the program draws, and the page shows, with at least one image for each function."""
    public = set(dir(draw)) - gallery.NO_FIGURES
    assert set(gallery.figures()) == public
    assert {image.find_parent("section")["id"] for image in page.find_all("img")} == {f"draw-{name}" for name in public}


def test_every_image_has_its_words_and_is_whole(page: BeautifulSoup) -> None:
    """Each image is a PNG within the page and has an alternative text, which is also written below it."""
    for image in page.find_all("img"):
        kind, _, content = image["src"].partition(",")
        assert kind == "data:image/png;base64" and base64.b64decode(content).startswith(b"\x89PNG"), image["alt"]
        assert len(image["alt"]) > 20 and image["alt"] in image.find_parent("section").get_text()


def test_the_figures_are_those_of_the_program(page: BeautifulSoup) -> None:
    """Each figure of the program is on the page, in its order and with its words."""
    for name, makes in gallery.figures().items():
        assert [image["alt"] for image in page.select(f"#draw-{name} img")] == [make().alt for make in makes]


@pytest.mark.parametrize("shown", gallery.PANELS, ids=lambda shown: gallery.anchor(shown.kind))
def test_every_kind_of_failing_check_is_shown(page: BeautifulSoup, shown: gallery.Panel) -> None:
    """Its panel says what the check says."""
    text, error = page.find(id=f"panel-{gallery.anchor(shown.kind)}").get_text(), gallery.error(shown)
    assert "✗ " + error.verdict.replace("`", "") in text
    if error.slip:
        assert error.slip.replace("`", "") in text


def test_panels_are_told_apart_and_come_from_nowhere_else(page: BeautifulSoup) -> None:
    """Each kind has one section of its own, and there is no other section."""
    names = [f"panel-{gallery.anchor(shown.kind)}" for shown in gallery.PANELS]
    assert len(set(names)) == len(names)
    assert [section["id"] for section in page.select("section[id^=panel-]")] == names


def test_nothing_is_loaded_and_nothing_runs(source: str, page: BeautifulSoup) -> None:
    """The page has no element that loads or runs something, no address but its own images, and no import in CSS."""
    assert not page.find_all(LOADERS)
    addresses = [tag[name] for tag in page.find_all() for name in ADDRESSES if tag.has_attr(name)]
    assert addresses and all(address.startswith("data:image/png;base64,") for address in addresses)
    assert not re.search(r"url\(|@import|image-set\(|\son\w+=|javascript:|https?://", source)


def test_the_page_is_small_and_says_who_made_it(source: str) -> None:
    """It is under 1.5 MB, and its first lines say that it is generated."""
    assert len(source.encode()) < 1_500_000
    assert "Made by tools/gallery.py; do not edit." in source[:200]


def test_an_answer_that_shows_no_panel_is_refused() -> None:
    """A wrong answer that is gone from the table, or an answer that is right, is refused with a reason."""
    with pytest.raises(ValueError, match="has no answer 'no such answer' to scaled_dot_product_attention"):
        gallery.error(gallery.Panel("x", *gallery.ATTEND, "no such answer"))
    right = gallery.classroom("01_attention").answers["causal_mask"]
    with pytest.raises(ValueError, match="No check of causal_mask fails on 'x'; choose another answer"):
        gallery.error(gallery.Panel("x", "01_attention", "causal_mask", source=right))
