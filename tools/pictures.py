"""The pictures of README.md, made anew: a figure, a failing check and the class page.

    PYTHONPATH=tests python tools/pictures.py   # writes docs/pictures/*.png; takes about a minute

It needs Chromium, as the tests do.
"""

import io
import sys
import tempfile
from pathlib import Path

import gallery
from PIL import Image
from playwright.sync_api import Browser
from support.browser import chromium
from support.sample_lesson import ROOT

from autograder import draw
from autograder.check import _panel
from autograder.report.write import write_report

sys.path.insert(0, str(ROOT / "benchmarks"))

import report as invented

PICTURES = ROOT / "docs" / "pictures"
STUDENTS = 60
COLOURS = 128
CELL = """\
<!DOCTYPE html>
<meta charset="utf-8">
<style>
body {{ margin: 0; background: #fff; color: #1b1b1b; font: 14px/1.4 system-ui, sans-serif; }}
main {{ display: inline-block; padding: 12px; }}
pre {{ font: 13px/1.4 ui-monospace, monospace; }}
main > pre {{ margin: 0 0 8px; padding: 8px 12px; background: #f5f5f5; border: 1px solid #e0e0e0; }}
</style>
<main><pre>{code}</pre>{panel}</main>
"""


def failing_check(browser: Browser) -> bytes:
    """What a check says in a notebook when the scores are not scaled."""
    panel = next(shown for shown in gallery.PANELS if shown.what == "no scale")
    page = browser.new_page(viewport={"width": 900, "height": 900}, device_scale_factor=1.5)
    page.set_content(CELL.format(code=f"check_{panel.exercise}_values()", panel=_panel.html(gallery.error(panel))))
    return page.locator("main").screenshot()


def class_page(browser: Browser) -> bytes:
    """What an invented class gets wrong most often, by mistakes that the checks really find."""
    with tempfile.TemporaryDirectory() as temporary:
        course = Path(temporary, "course")
        invented.make(course, STUDENTS)
        write_report(course)
        page = browser.new_page(viewport={"width": 1000, "height": 900}, device_scale_factor=1.25)
        page.goto((course / "report.html").as_uri())
    page.locator("header .about, header nav").evaluate_all("elements => elements.forEach(element => element.remove())")
    mistakes = page.locator("#mistakes").bounding_box()
    assert mistakes is not None
    clip = {"x": 0, "y": 0, "width": 1000, "height": mistakes["y"] + mistakes["height"] + 8}
    return page.screenshot(full_page=True, clip=clip)


def write(name: str, image: bytes) -> None:
    """Keep a picture, with few colours, which makes it small."""
    path = PICTURES / f"{name}.png"
    Image.open(io.BytesIO(image)).convert("RGB").quantize(COLOURS).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


def main() -> None:
    """Make all of them."""
    PICTURES.mkdir(exist_ok=True)
    write("architecture", draw.architecture().png)
    with chromium() as browser:
        write("failing_check", failing_check(browser))
        write("class_page", class_page(browser))


if __name__ == "__main__":
    main()
