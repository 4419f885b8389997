"""Answers to exercise 0.2: a copy in which what is not allowed has been replaced."""

from answers.writing import body, edit

WRONG = {
    "always −1e9": body("return scores.masked_fill(~allowed, -1e9)").fails("", "−1e9, whatever"),
    "NumPy": body("import numpy as np\nreturn np.where(allowed, scores.detach(), value)").fails(
        "copy", "something of the type ndarray where a tensor should be"
    ),
    "inverted": edit("~allowed", "allowed").fails("", "the allowed entries are hidden"),
    "a full tensor of float32": body("return torch.where(allowed, scores, torch.full(scores.shape, value))").fails("", "dtype"),
    "returns scores": body("return scores").fails("", "nothing is hidden"),
    "always 0": body("return scores.masked_fill(~allowed, 0.0)").fails("", "become 0, whatever"),
    "always −∞": body("return scores.masked_fill(~allowed, -torch.inf)").fails("", "whatever `value` is"),
    "multiplies by the mask": body("return scores * allowed").fails("", "become 0, whatever"),
    "adds value times the mask": body("return scores + value * ~allowed").fails("", "is added to the hidden entries"),
    "arithmetic": body("return scores * allowed + value * ~allowed").fails("", "−∞ · 0 is NaN"),
    "arithmetic, then no NaN": body("kept = (scores * allowed).nan_to_num()\nreturn kept + (value * ~allowed).nan_to_num(nan=0.0, neginf=-torch.inf)").fails(
        "", "wrong values"
    ),
    "multiplies by value": body("return torch.where(allowed, scores, scores * value)").fails("", "multiplied by `value`"),
    "what is 0 is taken for hidden": body("kept = scores * allowed\nreturn torch.where(kept == 0, value, kept)").fails("", "score of 0 is hidden"),
    "in place": body("scores[~allowed.expand(scores.shape)] = value\nreturn scores").fails("", "changes `scores`"),
    "masked_fill_": edit("masked_fill", "masked_fill_").fails("", "changes `scores`"),
    "nothing returned": edit("return ", "").fails("", "is None"),
    "selects": body("return scores[allowed.expand(scores.shape)]").fails("", "wrong shape"),
    "indexed without stretching": body("out = scores.clone()\nout[~allowed] = value\nreturn out").fails("", "raised"),
    "float32": edit("scores.", "scores.float().").fails("", "wrong dtype"),
    "a mask of numbers": body("return scores.masked_fill(1 - allowed, value)").fails("", "raised"),
    "detached": edit("scores.", "scores.detach().").fails("copy", "No gradient"),
    "data": edit("scores.", "scores.data.").fails("copy", "No gradient"),
    "through a list": body(
        "return torch.tensor([[[v if m else value for v, m in zip(*r)] for r in zip(*b)] for b in "
        "zip(scores.tolist(), allowed.expand(scores.shape).tolist())], dtype=scores.dtype)"
    ).fails("copy", ""),
    "nothing to hide, nothing copied": body("return scores if allowed.all() else scores.masked_fill(~allowed, value)").fails("copy", "is no copy"),
}
TRICKS = {
    "one shape of mask": body(
        "full = allowed if allowed.dim() == 1 else allowed.expand(scores.shape)\nreturn scores.masked_fill(~full if full.dim() < 3 else ~full[:1], value)"
    ).fails("", "wrong values"),
    "small −∞": body("return scores.masked_fill(~allowed, max(value, -1e30))").fails("", "wrong values"),
}
RIGHT = {
    "where": body("return torch.where(allowed, scores, value)"),
    "where of the tensor": body("return scores.where(allowed, torch.tensor(value, dtype=scores.dtype))"),
    "a copy that is written into": body("out = scores.clone()\nout[~allowed.expand(scores.shape)] = value\nreturn out"),
    "full_like": body("return torch.where(allowed, scores, torch.full_like(scores, value))"),
    "logical_not": body("return scores.masked_fill(torch.logical_not(allowed), value)"),
    "masked_fill_ on a copy": body("return scores.clone().masked_fill_(allowed == False, value)"),
    "arithmetic free of NaN": """
        def hide(scores, allowed, value=-torch.inf):
            replacement = torch.zeros_like(scores) + value
            keep = allowed.expand_as(scores)
            return torch.where(keep, scores * 1, replacement)
    """,
}
