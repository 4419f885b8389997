"""Markdown as HTML that needs no script: formulas as MathML, diagrams as tables of their arrows."""

import re
from html import escape

from latex2mathml.converter import convert
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

GAP = re.compile(r"(?:\\qquad\s*)+")  # between formulas that stand side by side where there is room
NODE = re.compile(r'(\w+)[\[(]+"(.+?)"[\])]+')
ARROW = re.compile(r'(\w+)\b.*?\s(<-->|-->)(?:\|"(.+?)"\|)?\s*(\w+)')
HEADS = "".join(f'<th scope="col">{head}</th>' for head in ("from", "to", "what happens"))


def html_of(text: str) -> str:
    """Markdown as notebooks have it, HTML included, as HTML."""
    return MarkdownWithMath(renderer=_Renderer(escape=False, exclude_anchor_links=True)).render(text)


def sections(text: str) -> dict[str, str]:
    """A document's parts by their headings of the second level; under "" what stands before them."""
    first, *rest = re.split(r"^## ", text, flags=re.MULTILINE)
    return {"": first} | {part.partition("\n")[0]: part.partition("\n")[2] for part in rest}


class _Renderer(IPythonRenderer):
    def block_math(self, body: str) -> str:
        """Formulas in the middle of a line, below each other where they do not fit."""
        return f'<span class="formulas">{"".join(_formula(part, "block") for part in GAP.split(body))}</span>'

    def inline_math(self, body: str) -> str:
        """A formula in a sentence."""
        return _formula(body, "inline")

    def block_mermaidjs(self, code: str) -> str:
        """A table of what leads where."""
        names = dict(NODE.findall(code))
        rows = "".join(
            f'<tr><th scope="row">{_named(start, names)}</th><td>{_named(end, names)}</td>'
            f"<td>{escape(what)}{' (both ways)' if arrow == '<-->' else ''}</td></tr>"
            for start, arrow, what, end in ARROW.findall(code)
        )
        return f"<table><thead><tr>{HEADS}</tr></thead><tbody>{rows}</tbody></table>"


def _formula(text: str, display: str) -> str:
    return convert(text.strip().replace(r"\_", "_"), display=display)


def _named(node: str, names: dict[str, str]) -> str:
    return names.get(node, escape(node)).partition("<br>")[0]
