"""Attacks that patch the IPython shell in which the cells run: its hooks, its transformers, its way of reporting."""

from attacks.attack import HIDDEN, Attack

PATCHED_SHELL = [
    Attack("an AST transformer empties every cell that follows").submits("""
        import ast

        class Empty(ast.NodeTransformer):
            def visit_Module(self, node):
                node.body = []
                return node

        get_ipython().ast_transformers.append(Empty())
    """),
    Attack("an AST transformer turns every check into one large number").submits("""
        import ast

        class Number(ast.NodeTransformer):
            def visit_Module(self, node):
                return ast.parse("1000.0") if "check.exercise" in ast.unparse(node) else node

        get_ipython().ast_transformers.append(Number())
    """),
    Attack("an input transformer replaces every cell by a line").submits("""
        get_ipython().input_transformers_post.append(lambda lines: ["print('✓')\\n"])
    """),
    Attack("an input transformer cuts the hidden tests out of every cell and shows them", secret=HIDDEN).submits("""
        get_ipython().input_transformers_cleanup.append(lambda lines: [f"print({''.join(lines)!r})\\n"])
    """),
    Attack(
        "hooks before and after each cell: the checks are patched while one runs, and whole again afterwards"
    ).submits("""
        whole = check.exercise
        events = get_ipython().events
        events.register("pre_run_cell", lambda info: setattr(check, "exercise", lambda *a, **k: lambda run: None))
        events.register("post_run_cell", lambda result: setattr(check, "exercise", whole))
    """),
    Attack("a hook after each cell forgets the error and clears the output").submits("""
        from IPython.display import clear_output

        def forget(result):
            result.error_in_exec = result.error_before_exec = None
            clear_output()

        get_ipython().events.register("post_run_cell", forget)
    """),
    Attack("an exception handler of the shell's finds every error fine, and no result ever has one").submits("""
        from IPython.core.interactiveshell import ExecutionResult

        get_ipython().set_custom_exc((BaseException,), lambda shell, kind, value, trace, tb_offset=None: print("✓"))
        ExecutionResult.error_in_exec = property(lambda self: None, lambda self, error: None)
    """),
    Attack("showtraceback shows nothing, and takes the error out of the result").submits("""
        import sys

        def hushed(*args, **kwargs):
            sys._getframe(1).f_locals["result"].error_in_exec = None

        get_ipython().showtraceback = get_ipython()._showtraceback = hushed
    """),
    Attack("run_code of the shell runs nothing").submits("""
        async def nothing(*args, **kwargs):
            return False

        get_ipython().run_code = nothing
    """),
    Attack("the class of the shell is another one, whose cells all succeed").submits("""
        from IPython.core.interactiveshell import ExecutionResult

        class Shell(type(get_ipython())):
            async def run_cell_async(self, raw_cell, *args, **kwargs):
                return ExecutionResult(None)

            def run_cell(self, raw_cell, *args, **kwargs):
                return ExecutionResult(None)

        get_ipython().__class__ = Shell
    """),
    Attack("through get_ipython().kernel no message about an error leaves the kernel").submits("""
        kernel = get_ipython().kernel
        send = kernel.session.send

        def silent(stream, kind, content=None, *args, **kwargs):
            if isinstance(content, dict) and content.get("status") == "error":
                content = {"status": "ok", "execution_count": 1, "payload": [], "user_expressions": {}}
            return None if kind == "error" else send(stream, kind, content, *args, **kwargs)

        kernel.session.send = silent
    """),
    Attack("a display hook that counts: each result is shown as a full score").submits(
        attend_one_query="""
            import sys

            def attend_one_query(query, key, value):
                sys.displayhook(2.0)
                raise ValueError
        """,
        causal_mask="""
            def causal_mask(size):
                get_ipython().displayhook("what is no number counts as all points")
                raise ValueError
        """,
    ),
    Attack("a magic of the student's own, a changed prompt, an alias and a profile for the next cells").submits("""
        from IPython.core.magic import register_line_magic

        @register_line_magic
        def pip(line):
            check.exercise = lambda *args, **kwargs: lambda run: None

        get_ipython().run_line_magic("pip", "")
        get_ipython().user_ns["check"] = check
        get_ipython().user_ns_hidden.clear()
        get_ipython().run_line_magic("reset_selective", "-f nothing")
    """),
]
