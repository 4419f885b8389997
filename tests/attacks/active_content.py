"""What a browser would run, handed out by a student's process whose own filters are patched away."""

from functools import partial

from attacks.attack import Attack, code

PAST_FILTERS = code("""
    import base64, sys

    shell = get_ipython()
    evil = "<script>window.ran = 1</script><img src=x onerror='window.ran = 1'>"

    def show(kind, text, about=None):
        metadata = {kind: about} if about else {}
        shell.page.outputs.append({"output_type": "display_data", "data": {kind: text}, "metadata": metadata})

    png = base64.b64encode(b"\\x89PNG\\r\\n\\x1a\\n").decode()
""")


# An answer's cell that puts something on the page itself.
past_filters = partial(Attack, targets=("autograder.grading.worker.shell.Page.show",), before=PAST_FILTERS)

ACTIVE_CONTENT = [
    past_filters("HTML, JavaScript, Markdown, SVG and a widget are put on the page past its list of types").submits("""
        for kind in ("text/html", "application/javascript", "text/markdown", "image/svg+xml", "text/latex"):
            show(kind, evil)
        show("application/vnd.jupyter.widget-view+json", evil)
    """),
    Attack(
        "the list of shown types is another one",
        targets=("autograder.grading.worker.outputs.SHOWN", "autograder.grading.worker.shell.SHOWN"),
    ).submits("""
        from IPython.display import HTML, SVG, display

        from autograder.grading.worker import outputs, shell

        outputs.SHOWN = shell.SHOWN = ("text/html", "image/svg+xml", "text/plain")
        display(HTML("<script>window.ran = 1</script>"))
        display(SVG("<svg xmlns='http://www.w3.org/2000/svg' onload='window.ran = 1'></svg>"))
    """),
    past_filters("a picture's size, its alternative text and its name are HTML").submits("""
        show("image/png", png, {"width": "1 onerror=window.ran=1", "height": evil, "unconfined": evil, "alt": "a"})
        shell.page.outputs[-1]["metadata"]["filenames"] = {"image/png": "x onerror=window.ran=1"}
    """),
    past_filters("a picture is none, and breaks out of its attribute").submits("""
        show("image/png", png + "' onerror='window.ran = 1")
        show("image/jpeg", base64.b64encode(evil.encode()).decode())
    """),
    past_filters("a hundred and fifty thousand empty outputs are put on the page").submits("""
        for _ in range(150_000):
            show("text/plain", "")
    """),
    past_filters("three hundred outputs of as much as a cell may put out, past its limit").submits("""
        shell.page.outputs += [{"output_type": "stream", "name": "stdout", "text": "x" * 200_000}] * 300
    """),
    Attack(
        "forty cells put out as much as they may, past the limit",
        cells=tuple(
            "get_ipython().page.outputs.append("
            f'{{"output_type": "stream", "name": "stdout", "text": "{number}" * 190_000}})'
            for number in range(40)
        ),
    ).submits("pass"),
    Attack("outputs of no known kind, and known kinds with fields that they do not have").submits("""
        get_ipython().page.outputs.append(
            {"output_type": "stream", "name": "stdout", "text": "a", "metadata": {"html": "<script>"}}
        )
    """),
]
