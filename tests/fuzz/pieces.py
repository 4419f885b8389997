# ruff: noqa: SIM905 (pieces by the line, as one reads them)
"""What texts are made of: letters that mean something somewhere, pieces of HTML, Markdown and code."""

ODD = ["\x00", "\x1b[2J", "\r", "\x0b", "\x85", "\u2028", "\u202e", "\u2060", "\ud800", "\ufeff", "é", "e\u0301", "🙂"]

# What a browser could run, whole and in pieces, and what Markdown, MathJax, Mermaid and templates do things with.
HTML = """
<script>alert(1)</script> </script> </style> </textarea> </pre> </div> </code> </td></tr></table> <!-- --> <![CDATA[
<?php <math> <style> < > " ' & &lt; &#60; &#x3c;script&#x3e; &quot; &colon; {{7*7}} {%raw%} onerror=alert(1) %s
javascript:alert(1) java&#115;cript: data:text/html,x https://x.y/ attachment:x <https://x> <x@y.z> &#60;img&#62;
""".split()
TAGS = ["<img src=x onerror=alert(1)>", "<svg onload=alert(1)>", "<iframe srcdoc='x'>"]
TAGS += ["<a href='javascript:alert(1)'>", "<base href=//x>", "<meta http-equiv=refresh content=0>", "<object data=x>"]
MARKDOWN = r"""
[a](javascript:alert(1)) ![a](x) [a] [ ] ][ ]( ]: ( ) ! \ ` ``` ~~~ mermaid *** --- $ $$ \( \\( \\[ \\]
\begin{a} \end{a} \href{javascript:x}{y} \unicode{60}
""".split()
LINES = [
    *("\n", "\n\n", " ", "\t", "    ", "# ", "## ", "> ", "- ", "- [ ] ", "1. ", ": ", " | "),
    "\n| a | b |\n|---|---|\n| ",
]
BLOCKS = ["```mermaid\n", "```html\n", "[a]: javascript:x\n", " style=x", "\x1b[31m"]
ACTIVE = [*HTML, *TAGS, *MARKDOWN, *LINES, *BLOCKS]

# Python, IPython and what is neither.
CODE = """
predicted_length " ''' # : ( ) [ { - ~ @ = ; % ? ?? ... return lambda a? %%time %magic !ls f'{x}' f'{' 0x 1j 1e999
""".split()
STATEMENTS = ["def double(x):\n    return 2 * x", "def double(x): pass", "class double: pass", "x = 1", "import os"]
STATEMENTS += ["await x", "if x:", "x = !ls", "x = %f", "/f a", ",f a", ";f a", ">>> a", "In [1]: a", "BEGIN SOLUTION"]
STATEMENTS += ["### BEGIN HIDDEN TESTS\n"]
CODE += [*STATEMENTS, ' = "', "\\\n", "\n", "    ", "\t", "\f", "\0", "9" * 5000]
