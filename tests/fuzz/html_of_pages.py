"""What can act in a page, as a browser would see it: parsed, not searched."""

import re
from collections import Counter

from bs4 import BeautifulSoup, Tag

LINKS = re.compile(r"(?:https?://|mailto:|#)", re.IGNORECASE)
# What Markdown makes.
TEXT = {"p", "em", "strong", "del", "code", "pre", "span", "div", "blockquote", "br", "hr", "a", "input"}
TEXT |= {*(f"h{level}" for level in range(1, 7)), "ul", "ol", "li", "dl", "dt", "dd"}
TEXT |= {"table", "thead", "tbody", "tr", "th", "td"}
# What only stands there to be read or folded, in any page.
QUIET = TEXT | {"b", "i", "small", "sup", "bdi", "section", "article", "header", "main", "figure", "figcaption"}
QUIET |= {"caption", "tfoot", "details", "summary", "label"}
ATTRIBUTES = {"class", "id", "href", "start", "align", "style", "type", "checked", "disabled", "title", "scope", "name"}
ATTRIBUTES |= {"role", "colspan", "rowspan"}


def parsed(html: str | bytes) -> BeautifulSoup:
    """A page as a browser reads it."""
    return BeautifulSoup(html, "html5lib")


def unquiet(element: Tag, tags: set[str] = QUIET) -> list[str]:
    """Why an element might do more than be read."""
    found = [] if element.name in tags else [element.name]
    for name, value in element.attrs.items():
        words = " ".join(value) if isinstance(value, list) else str(value)
        if name not in ATTRIBUTES and not name.startswith(("aria-", "data-")):
            found.append(f"{element.name} {name}")
        if name == "href" and words and not LINKS.match(words):
            found.append(f"{element.name} href={words}")
        if name == "style" and re.search(r"url|expression|import|position", words, re.IGNORECASE):
            found.append(f"{element.name} style={words}")
        if name == "class" and {"mermaid", "jp-mermaid"} & set(words.lower().split(" ")):
            found.append(f"{element.name} class={words}")
    if element.name == "input" and (element.get("type") != "checkbox" or "disabled" not in element.attrs):
        found.append("input")
    return found


def active(html: str | bytes, tags: set[str] = QUIET) -> Counter[str]:
    """All that might do more in a page, and how often."""
    body = parsed(html)
    return Counter(why for element in body.find_all(True) for why in unquiet(element, tags))
