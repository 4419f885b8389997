"""Students who know nothing of each other, invented: what each of them hands in for a lesson.

To each exercise a student takes one of the answers in tests/answers, right or wrong, by a law of Zipf: a few answers
are common, most are rare. Then it is written in the student's own way. Habits decide between ways to say the same in
Python and PyTorch, and hold for all exercises of a student, mostly; names of variables, comments, docstrings, messages
and cells of their own come from pools, the common ones again more often. So by chance some students share a rare
answer, a habit, a name or a comment, as students do. Whatever two of them share, they share by chance.
"""

import ast
import copy
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TypeVar

import nbformat

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import answers  # noqa: E402
from answers.writing import Right, Wrong, without_docstrings  # noqa: E402

ADHERENCE = 0.9  # how often a habit is kept to
GIVES_UP = 0.05
T = TypeVar("T")


def _listed(text: str) -> tuple[str, ...]:
    """What stands in a text, one behind the other."""
    return tuple(" ".join(each.split()) for each in text.split(";"))


# Ways to say the same, the common ones first; a student has one of each.
HABITS: dict[str, tuple[str, ...]] = {
    "product": ("@", "torch.matmul", ".matmul"),
    "size": ("as it is", ".size", ".shape"),
    "transposed": ("as it is", "transpose(-2, -1)", "mT", "transpose(-1, -2)", "swapaxes"),
    "dim": ("as it is", "keyword", "positional"),
    "softmax": ("as it is", "method", "function"),
    "root": ("as it is", "power", "math.sqrt", "torch.sqrt"),
    "result": ("as it is", "named"),
    "steps": ("as it is", "named", "one line"),
    "infinity": ("as it is", "float", "-1e9"),
    "parent": ("super()", "super(Class, self)"),
    "in place": ("as it is", "x += y", "x = x + y"),
    "sizes": ("as it is", "one by one"),
    "view": ("as it is", "reshape", "view"),
    "order": ("as it is", "changed"),
    "not": ("as it is", "== 0"),
}
NAMES: dict[str, tuple[str, ...]] = {
    "batch": ("batch", "b", "B", "batch_size", "bs", "n", "N", "bsz"),
    "seq_len": ("seq_len", "s", "t", "T", "length", "L", "seq", "n_tokens", "S"),
    "d_model": ("d_model", "d", "D", "dim", "width", "E", "hidden", "dm", "features"),
    "num_heads": ("num_heads", "h", "H", "heads", "n_heads", "nh"),
    "d_k": ("d_k", "dk", "head_dim", "d_head", "d", "hd", "depth", "per_head"),
    "scores": ("scores", "attn_scores", "logits", "s", "score", "energy", "sim", "qk", "att", "raw"),
    "weights": ("weights", "attn", "attn_weights", "w", "probs", "attention", "alpha", "p", "a", "softmaxed"),
    "output": ("output", "out", "result", "res", "o", "y", "ret", "final", "context"),
    "mask": ("mask", "m", "allowed", "keep", "msk", "attn_mask"),
    "loss": ("loss", "l", "total_loss", "cost", "ce", "nll"),
    "position": ("position", "pos", "positions", "p", "idx", "t", "places"),
    "i": ("i", "j", "k", "idx", "n", "index", "step"),
    "x": ("x", "inp", "h", "z", "y", "tensor", "data", "inputs"),
}
ANY_NAME = _listed("""
    out; res; tmp; x; y; result; a; b; val; temp; t; z; h; new; ret; cur; v; r; data; tensor; item; values; final;
    total; first; tmp2; aux; u; each; inner; stuff; foo; current; x1; x2; vec; mat; acc; buf; part; piece; block;
    s1; s2; left; right; extra
""")
VERBS = _listed("""
    compute; get; calculate; apply; make; create; now; take; reshape; first; then; add; use; build; multiply; check;
    step 1:; step 2:; we need; here we compute; find; set; turn into; sum; to get; scale; this gives; prepare; keep;
    split; swap; normalize; combine; return; update
""")
NOUNS = _listed("""
    the scores; attention weights; the mask; shapes; the output; the heads; d_k; the dimensions; batch and seq len;
    the result; softmax; the sizes; everything; a new tensor; the last dim; values; queries and keys; the logits;
    positions; the embedding; each token; padding; all the layers; x; the residual; the mean; one step; the
    gradient; the loss; the tokens; the next one; the pairs
""")
ENDS = (*7 * [""], " again", " like in the paper", " (see hint)", " for every head", " here", "!", " first")
SHAPES = ("(batch, seq, d)", "(b, s, d)", "(B, T, C)", "(batch, seq_len, d_model)", "(b, h, s, d)", "(B, H, T, D)")
MESSAGES = _listed("""
    {a} must be divisible by {b}; {a} has to be divisible by {b}; {a} should be divisible by {b}; wrong {a};
    {a} not divisible by {b}; invalid {a}; {b} does not divide {a}; {a} is too small; bad {a}; {a} error;
    {a} % {b} != 0; cannot split {a} into {b}; {a} and {b} do not fit; please choose another {a}; {a}!
""")
OWN_CELLS = (
    *("{f}", "help({f})", "print(torch.__version__)", "x = torch.randn({a}, {b}, {c})\nprint(x.shape)", "!nvidia-smi"),
    *("x = torch.arange({a}.0)\nx", "torch.randn({a}, {b}).softmax(dim=-1)", "a = torch.ones({a}, {b})\na.sum()"),
    "x = torch.randn({a}, {b}, {c})\nprint({f})\nx.view({a}, -1).shape",
    *("import inspect\nprint(inspect.getsource({f}))", "test = torch.tensor([[{a}, {b}], [{c}, {a}]])\nprint(test.T)"),
    *("for i in range({a}):\n    print(i, i * {b})", "m = nn.Linear({a}, {b})\nprint(m.weight.shape)"),
    *("%timeit torch.randn({a}, {b}) @ torch.randn({b}, {c})", "1 + {a}"),
    *("q = torch.rand({a}, {b})\nk = torch.rand({c}, {b})\nprint((q @ k.T).shape)", "print({f}.__doc__)", "device"),
    "x",
)


@dataclass
class Written:
    """What one student hands in."""

    # exercise → the source of the answer cell; none where the student gave up
    answers: dict[str, str] = field(default_factory=dict)
    slips: dict[str, str] = field(default_factory=dict)  # exercise → what a check would say about it, where it is wrong
    cells: list[str] = field(default_factory=list)  # the student's own


def zipf(chance: random.Random, items: Sequence[T], exponent: float = 1.0) -> T:
    """One of the items, the first the most likely: the n-th is n^exponent times as rare."""
    weights = [1 / (place + 1) ** exponent for place in range(len(items))]
    return chance.choices(items, weights)[0]


@cache
def solutions(lesson: str) -> dict[str, str]:
    """Exercise → the source of the course's answer, docstrings and comments left out."""
    notebook = nbformat.read(ROOT / "solutions" / lesson / f"{lesson}.ipynb", as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return {cell.id: cell.source for cell in code if cell.metadata.get("nbgrader", {}).get("solution")}


@cache
def pool(lesson: str, exercise: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Right and wrong answers to an exercise, common ones first, each as its source and its slip."""
    chance = random.Random(f"{lesson} {exercise}")
    right = [each for each in answers.RIGHT[lesson] if each.exercise == exercise]
    wrong = [each for each in answers.WRONG[lesson] if each.exercise == exercise and not each.trick]
    chance.shuffle(right)
    chance.shuffle(wrong)
    found = [(solutions(lesson)[exercise], ""), *((_source(lesson, each), "") for each in right)]
    return found, [(_source(lesson, each), f"{each.check}: {each.says or each.what}") for each in wrong]


def _source(lesson: str, answer: Right | Wrong) -> str:
    return answers.source(answer, solutions(lesson))


def students(lesson: str, count: int, seed: int = 0) -> list[Written]:
    """Invent so many students."""
    return [_Student(random.Random(f"{lesson} {seed} {number}")).hand_in(lesson) for number in range(count)]


def answer(lesson: str, exercise: str, chance: random.Random) -> tuple[str, str]:
    """The answer of one more student to one exercise: its source and its slip, both "" where they gave up."""
    return _Student(chance).answer(lesson, exercise)


class _Student:
    """Somebody with habits, and a strength."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.strength = chance.betavariate(5, 1.5)
        self.habits = {what: zipf(chance, ways) for what, ways in HABITS.items()}
        self.comments = chance.gammavariate(1, 1.2)  # on average, in an answer
        self.own_names = chance.random()  # how often a variable gets another name

    def hand_in(self, lesson: str) -> Written:
        """Answer all exercises, and try some things in cells of one's own."""
        written = Written()
        for exercise in solutions(lesson):
            source, slip = self.answer(lesson, exercise)
            if source:
                written.answers[exercise] = source
            if slip:
                written.slips[exercise] = slip
        if self.chance.random() < 0.4:
            names = list(solutions(lesson))
            for _ in range(self.chance.randint(1, 5)):
                sizes = {name: self.chance.choice((2, 3, 4, 5, 6, 8, 10, 16)) for name in "abc"}
                cell = zipf(self.chance, OWN_CELLS, 0.7).format(f=self.chance.choice(names), **sizes)
                written.cells.append(f"# {self.comment()}\n{cell}" if self.chance.random() < 0.2 else cell)
        return written

    def answer(self, lesson: str, exercise: str) -> tuple[str, str]:
        """Answer one exercise."""
        if self.chance.random() < GIVES_UP:
            return "", ""
        right, wrong = pool(lesson, exercise)
        is_right = self.chance.random() < self.strength or not wrong
        source, slip = zipf(self.chance, right if is_right else wrong)
        tree = ast.parse(without_docstrings(source, annotations=True))
        tree = _Habits(self.habits, self.chance).visit(tree)
        rename(tree, self.name_for())
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise):
                _replace_message(node, zipf(self.chance, MESSAGES), self.chance)
        return self.with_words(ast.unparse(ast.fix_missing_locations(tree))), slip

    def name_for(self) -> Callable[[str], str]:
        """Names of one's own for some of the variables."""

        def chosen(name: str) -> str:
            if self.chance.random() > self.own_names:
                return name
            known = NAMES.get(name) or NAMES.get({"out": "output", "attn": "weights"}.get(name, ""))
            return zipf(self.chance, known or (name, name[0].lower(), *ANY_NAME))

        return cache(chosen)

    def with_words(self, source: str) -> str:
        """The source with comments, and perhaps a docstring, of one's own."""
        lines = []
        statements = [line for line in source.splitlines() if line.startswith(" ")]
        rate = self.comments / max(1, len(statements))
        for line in source.splitlines():
            margin = line[: len(line) - len(line.lstrip())]
            if line.lstrip().startswith("def ") and self.chance.random() < 0.06:
                lines += [line, f'{margin}    """{self.comment().capitalize()}."""']
                continue
            if margin and self.chance.random() < rate:
                if self.chance.random() < 0.5:
                    line += f"  # {self.shape_or_comment()}"
                else:
                    lines.append(f"{margin}# {self.comment()}")
            lines.append(line)
        return "\n".join(lines)

    def comment(self) -> str:
        """What somebody may say about a line of code."""
        return f"{zipf(self.chance, VERBS, 0.7)} {zipf(self.chance, NOUNS, 0.7)}{self.chance.choice(ENDS)}"

    def shape_or_comment(self) -> str:
        return zipf(self.chance, SHAPES) if self.chance.random() < 0.5 else self.comment()


def _replace_message(node: ast.Raise, message: str, chance: random.Random) -> None:
    """Let an error that is raised say this."""
    if isinstance(node.exc, ast.Call) and node.exc.args:
        names = [each.id for each in ast.walk(node.exc) if isinstance(each, ast.Name)][1:] or ["d_model", "num_heads"]
        one, other = (*names, "num_heads")[:2]
        if chance.random() < 0.4:
            message = "f" + repr(message.replace("{a}", "{" + one + "}").replace("{b}", "{" + other + "}"))
        else:
            message = repr(message.format(a=one, b=other))
        node.exc.args = [ast.parse(message, mode="eval").body]


def local_names(tree: ast.AST) -> set[str]:
    """The names that functions of the tree bind, their parameters left out."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda)]
    inside = (node for function in functions for node in ast.walk(function))
    bound = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return bound - parameters(tree)


def parameters(tree: ast.AST) -> set[str]:
    """The names of the parameters of all functions of the tree."""
    return {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)} - {"self"}


def own_attributes(tree: ast.AST) -> set[str]:
    """The attributes that the tree gives to `self`."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self"
    }


def rename(tree: ast.AST, name_for: Callable[[str], str], *, everything: bool = False) -> None:
    """Give the local variables of the functions of a tree other names; or parameters and attributes, too."""
    names = {name: name_for(name) for name in sorted(local_names(tree))}
    taken = parameters(tree)
    names, own = {old: new if new not in taken else old for old, new in names.items()}, {}
    if everything:
        names |= {name: name_for(name) for name in sorted(taken)}
        own = {name: name_for(name) for name in sorted(own_attributes(tree))}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = names.get(node.arg, node.arg)
        elif isinstance(node, ast.Attribute):
            node.attr = own.get(node.attr, node.attr)


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _call(text: str, *arguments: ast.expr, **keywords: ast.expr) -> ast.Call:
    return ast.Call(_parsed(text), list(arguments), [ast.keyword(*each) for each in keywords.items()])


def _method(value: ast.expr, name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(value, name, ast.Load()), list(arguments), [])


class _Habits(ast.NodeTransformer):
    """Says the same in another way, here and there."""

    def __init__(self, habits: Mapping[str, str], chance: random.Random) -> None:
        self.habits, self.chance, self.parent, self.count = habits, chance, "", 0

    def way(self, what: str) -> str:
        """A student's way to say something, most of the time."""
        return self.habits[what] if self.chance.random() < ADHERENCE else zipf(self.chance, HABITS[what])

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.parent = node.name
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.MatMult):
            way = self.way("product")
            if way == "torch.matmul":
                return _call("torch.matmul", node.left, node.right)
            if way == ".matmul":
                return _method(node.left, "matmul", node.right)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        text = ast.unparse(node)
        if text in ("-math.inf", "-float('inf')"):
            ways = {"float": 'float("-inf")', "-1e9": "-1e9"}
            return _parsed(ways.get(self.way("infinity"), text))
        if isinstance(node.op, ast.Invert) and self.way("not") == "== 0":
            return ast.Compare(node.operand, [ast.Eq()], [ast.Constant(0)])
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        of_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        if of_shape and isinstance(node.slice, ast.Constant | ast.UnaryOp) and self.way("size") == ".size":
            return _method(node.value.value, "size", node.slice)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        return self._transposed(node.value) or node if node.attr == "mT" else node

    def _transposed(self, value: ast.expr) -> ast.expr | None:
        way = self.way("transposed")
        if way == "mT":
            return ast.Attribute(value, "mT", ast.Load())
        if way == "as it is":
            return None
        name, dims = ("swapaxes", (-2, -1)) if way == "swapaxes" else ("transpose", ast.literal_eval(way[9:]))
        return _method(value, name, *map(ast.Constant, dims))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        text, name = ast.unparse(node.func), getattr(node.func, "attr", "")
        given = [ast.unparse(argument) for argument in node.args]
        if text == "super" and self.parent and not given and self.way("parent") == "super(Class, self)":
            return _call("super", ast.Name(self.parent, ast.Load()), ast.Name("self", ast.Load()))
        if name == "size" and len(given) == 1 and self.way("size") == ".shape":
            return ast.Subscript(ast.Attribute(node.func.value, "shape", ast.Load()), node.args[0], ast.Load())
        if name == "transpose" and sorted(given) == ["-1", "-2"]:
            return self._transposed(node.func.value) or node
        if text == "float" and given in (["'-inf'"], ['"-inf"']) and self.way("infinity") == "-1e9":
            return _parsed("-1e9")
        if name in ("view", "reshape"):
            node.func.attr = {"reshape": "reshape", "view": "view"}.get(self.way("view"), name)
        if text == "math.sqrt" and given:
            way = self.way("root")
            if way == "power":
                return ast.BinOp(node.args[0], ast.Pow(), ast.Constant(0.5))
            if way == "torch.sqrt":
                return _call("torch.sqrt", _call("torch.tensor", node.args[0]))
        return self._reduced(node, text, name)

    def _reduced(self, node: ast.Call, text: str, name: str) -> ast.AST:
        """A call that reduces a dimension, softmax among them."""
        if name not in ("softmax", "log_softmax", "sum", "mean", "argmax", "cat", "stack", "any", "all", "max", "min"):
            return node
        functions = f"F.{name}", f"torch.{name}"
        is_function = text in functions
        if name in ("softmax", "log_softmax") and (way := self.way("softmax")) != "as it is":
            if way == "method" and is_function and node.args:
                node = ast.Call(ast.Attribute(node.args[0], name, ast.Load()), node.args[1:], node.keywords)
            elif way == "function" and not is_function and isinstance(node.func, ast.Attribute):
                keywords = {each.arg: each.value for each in node.keywords if each.arg}
                node = _call(f"F.{name}", node.func.value, *node.args, **keywords)
            is_function = ast.unparse(node.func) in functions
        at, way = int(is_function), self.way("dim")
        if way == "keyword" and len(node.args) == at + 1:
            node.keywords.insert(0, ast.keyword("dim", node.args.pop()))
        elif way == "positional" and len(node.args) == at and node.keywords and node.keywords[0].arg == "dim":
            node.args.append(node.keywords.pop(0).value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name) and self.way("in place") == "x = x + y":
            return ast.Assign([node.target], ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value))
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Name) and isinstance(value, ast.BinOp) and ast.unparse(value.left) == target.id:
            return ast.AugAssign(target, value.op, value.right) if self.way("in place") == "x += y" else node
        one_by_one = isinstance(target, ast.Tuple) and ast.unparse(value).endswith((".shape", ".size()"))
        if one_by_one and self.way("sizes") == "one by one" and all(isinstance(each, ast.Name) for each in target.elts):
            text = ast.unparse(value).removesuffix("()")
            form = f"{text}[{{}}]" if text.endswith("shape") else f"{text}({{}})"
            return [ast.Assign([each], _parsed(form.format(place))) for place, each in enumerate(target.elts)]
        return self._in_steps(node)

    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if isinstance(node.value, ast.Call | ast.BinOp) and self.way("result") == "named":
            named = ast.Assign([ast.Name("output", ast.Store())], node.value)
            return [*self._in_steps(named), ast.Return(ast.Name("output", ast.Load()))]
        return self._in_steps(node)

    def _in_steps(self, node: ast.Assign | ast.Return) -> list[ast.stmt]:
        """A statement, and before it the first part of its value, under a name of its own."""
        value = node.value
        inner = value.func.value if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else None
        if not isinstance(inner, ast.Call | ast.BinOp) or self.way("steps") != "named":
            return [node]
        self.count += 1
        name = f"step_{self.count}"
        value.func.value = ast.Name(name, ast.Load())
        return [ast.Assign([ast.Name(name, ast.Store())], inner), node]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        if self.way("order") == "changed":
            node.body = reordered(node.body, self.chance)
        if self.way("steps") == "one line":
            node.body = list(_joined(node.body))
        return node


def reordered(body: Sequence[ast.stmt], chance: random.Random) -> list[ast.stmt]:
    """Statements in another order, as far as none of them needs another: neighbours that assign, one by one."""
    body = list(body)
    for place in range(len(body) - 1):
        one, other = both = body[place : place + 2]
        if all(isinstance(each, ast.Assign) for each in both) and _apart(one, other) and chance.random() < 0.6:
            body[place : place + 2] = other, one
    return body


def _apart(one: ast.Assign, other: ast.Assign) -> bool:
    """Neither assigns what the other reads or assigns."""

    def used(*nodes: ast.AST) -> set[str]:
        inside = (each for node in nodes for each in ast.walk(node))
        return {ast.unparse(each) for each in inside if isinstance(each, ast.Name | ast.Attribute)}

    bound, others = used(*one.targets) - {"self"}, used(*other.targets) - {"self"}
    return not (bound & used(other) or others & used(one))


def _joined(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements, of which one that is only there for the last to read is put into it."""
    *before, last = body
    if before and isinstance(last, ast.Return) and last.value and isinstance(before[-1], ast.Assign):
        target = before[-1].targets[0]
        uses = [each for each in ast.walk(last) if isinstance(each, ast.Name) and ast.unparse(target) == each.id]
        if isinstance(target, ast.Name) and len(uses) == 1:
            value = before.pop().value
            put = ast.NodeTransformer()
            put.visit_Name = lambda node: value if node.id == target.id else node
            last = put.visit(copy.deepcopy(last))
    yield from (*before, last)
