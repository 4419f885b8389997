from answers.writing import BARE, body, edit, edits

WRONG = {
    "collects what is added": edit("x = x + sublayer(norm(x))\nstates.append(x)", "added = sublayer(norm(x))\nx = x + added\nstates.append(added)").fails(
        "", "what is added is put into the list"
    ),
    "the same x many times": body(
        "states = [x] * (len(sublayers) + 1)\nfor sublayer, norm in zip(sublayers, norms):\n    x = x + sublayer(norm(x))\nreturn states"
    ).fails("", "every state is x as it came in"),
    "x added twice": edit("x + sublayer", "x + x + sublayer").fails("", "x is added twice"),
    "the sub-layer reads it normalised twice": edit("sublayer(norm(x))", "sublayer(norm(norm(x)))").fails("", "normalised twice"),
    "as it was": edit("x = x + sublayer(norm(x))", "x = norm(x)\nx = x + sublayer(x)").fails("", "x itself is lost"),
    "as it was, with a name for the residual": edit("x = x + …", "x = residual = norm(x)\nx = residual + sublayer(x)").fails("", "x itself is lost"),
    "into the list too early": edits(('"""Run…"""', ""), ("for …", "…\n    states.append(x)"), ("x = …d(x)", "x = x + sublayer(norm(x))")).fails(
        "", "before its sub-layer is added"
    ),
    "post-norm": edit("x + sublayer(norm(x))", "norm(x + sublayer(x))").fails("", "as in post-norm"),
    "the output normalised": edit("sublayer(norm(x))", "norm(sublayer(x))").fails("", "instead of its input"),
    "no norm": edit("sublayer(norm(x))", "sublayer(x)").fails("", "nothing is normalised"),
    "no residual": edit("x + sublayer", "sublayer").fails("", "x is not added"),
    "normalised twice": edit("x = x + …", "x = norm(x)\nx = x + sublayer(norm(x))").fails("", "normalised twice"),
    "the first norm for all": edit("norm(x)", "norms[0](x)").fails("", "the first norm"),
    "in place": edit("x = x +", "x +=").fails("", "changes `x`"),
    "in place, on a copy": edits(("[x]", "[x.clone()]"), ("for sublayer", "x = x.clone()\nfor sublayer"), ("x = x +", "x +=")).fails("", "wrong values"),
    "the input is not in the list": edit("states = [x]", "states = []").fails("", "should return 4 tensors"),
    "only the last state": edit("return states", "return x").fails("", "should return 4 tensors"),
    "every sub-layer reads the input": edits(("states = [x]", "states = [x]\nfirst = x"), ("norm(x)", "norm(first)")).fails("", "reads the first x"),
    "normalised states": edit("states.append(x)", "states.append(norm(x))").fails("", "wrong values"),
    "no gradient through the sub-layers": edit("sublayer(norm(x))", "sublayer(norm(x)).detach()").fails("", "gradient"),
    "subtracted": edit("x = x + ", "x = x - ").fails("", "is subtracted"),
}

TRICKS = {
    "only the first two are mended": edit("x = x + …", "if len(states) > 2: x = norm(x)\nx = x + sublayer(norm(x) if len(states) < 3 else x)").fails(
        "", "wrong values"
    )
}

RIGHT = {
    "a copy for the sub-layer": edit("x = x + …", "normed = norm(x)\nx = x + sublayer(normed)"),
    "a residual kept": edit("x = x + …", "residual = x\nx = norm(x)\nx = residual + sublayer(x)"),
    "by index, with the last state": body("""
        states = [x]
        for i in range(len(sublayers)):
            states.append(torch.add(states[-1], sublayers[i](norms[i](states[-1]))))
        return states
    """),
    "accumulated": body("from itertools import accumulate\nreturn list(accumulate(zip(sublayers, norms), lambda x, pair: pair[0](pair[1](x)) + x, initial=x))"),
    "recursive, a tuple": body("""
        if not sublayers:
            return (x,)
        return x, *mended_stack(x + sublayers[0](norms[0](x)), sublayers[1:], norms[1:])
    """),
    "in place on a new tensor": edit("x = x + …", "y = x.clone()\ny += sublayer(norm(x))\nx = y", on=BARE),
    "keeps the residual under a name, as PyTorch's repair does": """
        def mended_stack(x: torch.Tensor, sublayers, norms) -> list:
            def states():
                residual = x
                yield residual
                for i, sublayer in enumerate(sublayers):
                    residual = sublayer(norms[i](residual)) + residual
                    yield residual
            return [*states()]
    """,
}
