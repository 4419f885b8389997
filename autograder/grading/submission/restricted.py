"""Whether code keeps to a part of Python in which it reaches nothing but what it is given.

Such code cannot look at who calls it, nor change what a check is made of. So its checks run beside it, as in a
student's own notebook, and nothing has to cross a bridge: most of what is handed in is of this kind. All other code is
as welcome; its answers are called from another process, which takes up to four times as long.

What is known here is what is harmless, and never what is not: which statements, which names of Python's own, which
modules, which attributes. An attribute on `self` is the student's own, and `self` an object of a class of theirs.
"""

import ast
import builtins
import importlib
import re
import symtable
import types
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set

import torch
import torch.nn.functional as F
from IPython.core.inputtransformer2 import TransformerManager
from torch import nn

from autograder.course.lesson import MAGIC, MOST_LETTERS, MOST_MAGICS
from autograder.grading.submission import known
from autograder.grading.submission.dependencies import imported

STORED = frozenset({"weight", "bias"})  # attributes that may be set, on whatever is no class
# Drawings, each by a line of its own, since it returns much, and how many arguments each may be given by position: some
# of the further ones hand what is drawn to the student's own code.
_DRAWINGS = {
    **dict.fromkeys(("colorbar", "figure", "legend", "show", "tight_layout"), 0),
    **dict.fromkeys(("grid", "imshow", "matshow", "title", "xlabel", "ylabel"), 1),
    "plot": 3,
}
_STYLES = frozenset("alpha cmap color figsize fontsize label linestyle linewidth marker vmax vmin".split())  # noqa: SIM905
_PYPLOT = "matplotlib.pyplot"
_CALLS = {  # what may be called in modules of which nothing may be read
    _PYPLOT: frozenset(_DRAWINGS),
    "sys": frozenset[str](),
    "time": frozenset({"perf_counter", "sleep", "time"}),
    "warnings": frozenset({"warn"}),
}
_FILES = frozenset({"sys.stderr", "sys.stdout"})  # of `print`
_AS_IT_STANDS = re.compile(r"[\w .,:()\[\]+*/=<>]*")  # a line that `%time` runs as it is, with no option and no text
_PROMPT = re.compile(r"^[^\S\n]*(?:>>>|\.{3}|In \[)", re.MULTILINE)
MOST_OF_ALL = 3 * MOST_LETTERS  # letters of all cells; to read so many takes a second
_LINE_ENDS = frozenset("\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")  # for IPython, and not for Python
_OF_IPYTHON = frozenset({"In", "Out", "display", "exit", "get_ipython", "open", "quit"})
_KEPT = re.compile(r"__.*|_i{0,3}|_i?\d+|_[dios]h|_exit_code")  # names by which Python or IPython keeps something
_FIXED = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional"}  # what some names mean, if anything
_ERRORS = frozenset(name for name in known.BUILTINS if isinstance(getattr(builtins, name), type) and name[0].isupper())
_BASES = frozenset({"object", "nn.Module", "torch.nn.Module"})
_DECORATORS = frozenset({"torch.no_grad()", "torch.inference_mode()"})  # of methods
_CONTEXTS = re.compile(r"torch\.(?:no_grad\(\)|inference_mode\(\)|enable_grad\(\)|device\('\w+'\))")
_TENSOR = frozenset({"torch.Tensor", "Tensor", "torch.nn.Tensor"})  # to make one by it is to read old memory
_METHODS = frozenset({"__init__", "forward", "extra_repr"})  # that a class may have, although `nn.Module` has them
_ON_SELF = frozenset({"register_buffer"})
_OF_MODULES = frozenset(dir(nn.Module)) | frozenset(vars(nn.Module()))
_KINDS: tuple[object, ...] = (torch, nn, F, torch.optim, torch.autograd, torch.Tensor, torch.Generator, nn.Module)
_KINDS += (torch.optim.Adam, builtins, *(each for space in (builtins, types) for each in vars(space).values()))
_OF_OTHERS = frozenset(name for kind in _KINDS for name in dir(kind))
_STATEMENTS = (
    *(ast.Module, ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.Return, ast.Delete, ast.Assign, ast.AugAssign),
    *(ast.AnnAssign, ast.For, ast.While, ast.If, ast.With, ast.Raise, ast.Try, ast.Assert, ast.Import, ast.ImportFrom),
    *(ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.Nonlocal, ast.alias, ast.withitem, ast.ExceptHandler),
)
_EXPRESSIONS = (
    *(ast.BoolOp, ast.NamedExpr, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Dict, ast.Set, ast.ListComp, ast.SetComp),
    *(ast.DictComp, ast.GeneratorExp, ast.Yield, ast.YieldFrom, ast.Compare, ast.Call, ast.JoinedStr, ast.Constant),
    *(ast.FormattedValue, ast.Attribute, ast.Subscript, ast.Starred, ast.Name, ast.List, ast.Tuple, ast.Slice),
    *(ast.arguments, ast.arg, ast.keyword, ast.comprehension, ast.boolop, ast.operator, ast.unaryop, ast.cmpop),
    ast.expr_context,
)
_ANNOTATION = re.compile(
    r"(?:\b(?:Any|Callable|Dict|Iterable|Iterator|List|Mapping|None|Optional|Sequence|Tensor|Tuple|Union|bool|dict|float|"
    r"int|list|nn\.Module|nn\.Parameter|set|str|torch\.Tensor|torch\.device|torch\.dtype|torch\.nn\.Module|tuple)\b"
    r"|[][, |.]|'[\w ().,*→-]*')+"
)
_TYPES = frozenset("Any Callable Dict Iterable Iterator List Mapping Optional Sequence Tensor Tuple Union".split())  # noqa: SIM905


class _Beyond(Exception):
    """Code goes beyond what is known here."""


def goes_beyond(
    sources: Sequence[str],
    given: Set[str],  # the names that the lesson's own cells bind, none of which a student's may
    parts: Set[str],  # those of them that may be read, beside what is imported: classes, and parts of the course
    imports: Mapping[str, str],  # what the lesson's own cells import, by the names that they give it
    attributes: frozenset[str],  # that its written answers read; harmless if nothing of Python's or PyTorch's has them
    taken: Set[str],  # all names that stand for something beside these cells; others stand for nothing
) -> str:
    """What in a student's cells goes beyond the part of Python that is known here; "" where nothing does."""
    try:
        _require(sum(map(len, sources)) <= MOST_OF_ALL, "very much code")
        texts = [_as_it_runs(source) for source in sources]
        cells = [ast.parse(text) for text in texts]
        reader = _Reader([node for cell in cells for node in ast.walk(cell)], given, imports)
        reader.require_known_globals(texts, given, parts, taken)
        reader.attributes |= attributes - _OF_OTHERS | attributes & known.LEARNING
        for cell in cells:
            reader.visit(cell)
    except _Beyond as beyond:
        return str(beyond)
    except (SyntaxError, ValueError, RuntimeError, MemoryError) as error:  # IPython's and Python's own
        return type(error).__name__
    return ""


def _as_it_runs(source: str) -> str:
    """A cell as IPython makes Python of it, with what a magic runs in its place."""
    _require(len(source) <= MOST_LETTERS and not _LINE_ENDS & {*source}, "a long cell, or one with odd lines")
    magics = len(MAGIC.findall(source))
    _require(magics <= MOST_MAGICS and not (magics and _PROMPT.search(source)), "many magics, or one behind a prompt")
    _require("get_ipython" not in unicodedata.normalize("NFKC", source), "`get_ipython`")
    if not magics:
        ast.parse(source)  # and so without prompts, which hide magics
        return TransformerManager().transform_cell(source)
    tree = ast.parse(TransformerManager().transform_cell(source))
    for place, statement in reversed([*enumerate(tree.body)]):
        match statement:
            case ast.Expr(ast.Call(ast.Attribute(ast.Call(ast.Name("get_ipython")), called), words, [])):
                texts = [each.value if isinstance(each, ast.Constant) else None for each in words]
                tree.body[place : place + 1] = ast.parse(_run_by([called, *texts])).body
    return ast.unparse(tree)


def _run_by(call: Sequence[object]) -> str:
    """What a magic runs, of the few of which that is known for certain; a shell command runs nothing here."""
    match call:
        case ["system", str()] | ["run_line_magic", "matplotlib", "inline" | "notebook" | "widget"]:
            return ""
        case ["run_line_magic", "time", str(line)] if _AS_IT_STANDS.fullmatch(line):
            return line
        case ["run_cell_magic", "time", "", str(cell)]:
            return TransformerManager().transform_cell(cell)
    raise _Beyond("a magic")


class _Reader(ast.NodeVisitor):
    """Reads all cells of a student, whose nodes it is given first, and raises at what it does not know."""

    def __init__(self, nodes: Sequence[ast.AST], given: Set[str], imports: Mapping[str, str]) -> None:
        own_imports = {alias for node in nodes for alias in imported(node)}
        fixed, paths = {**imports, **_FIXED}, dict(own_imports)
        bound = Counter(name for node in nodes for name in _bindings(node))
        bound -= Counter(name for node in nodes for name, path in imported(node) if fixed.get(name) == path)
        _require(len(paths) == len(own_imports) and all(map(_is_usual, paths.values())), "an import")
        self._classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
        self._defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef) and bound[node.name] == 1}
        self._bound = bound.keys()
        methods = [each for node in nodes if isinstance(node, ast.ClassDef) for each in node.body]
        inits = sum(isinstance(each, ast.FunctionDef) and each.name == "__init__" for each in methods)
        for name in bound:
            is_private = name != "_" and _KEPT.fullmatch(name) and (name != "__init__" or bound[name] != inits)
            is_anew = name in fixed or name in vars(builtins) or name in _OF_IPYTHON
            is_anew |= name in _TYPES and paths.get(name) != f"typing.{name}"
            _require(not is_anew and not is_private, f"`{name}`, bound anew")
        _require(all(bound[name] == 1 for name in self._classes), "a class with the name of something else")
        times = Counter(name for node in nodes for name, _ in imported(node))
        own = paths.keys() - fixed.keys()
        _require(not own & given and all(bound[name] == times[name] for name in own), "an import with another's name")
        _require(bound["self"] == sum(map(_takes_self, methods)), "`self` that is no argument of a method")
        paths = {**imports, **paths}
        self._foreign = {
            name for name, path in paths.items() if known.MODULES.isdisjoint((path, path.rpartition(".")[0]))
        }
        self._called = {name: path for name, path in paths.items() if path in _CALLS}
        self._imported = imports.keys() - self._foreign  # and bound anew by nobody, or refused above
        self._modules = {name: importlib.import_module(path) for name, path in paths.items() if path in known.MODULES}
        self._types = {name for name, path in paths.items() if isinstance(_found(path), type)}
        self._annotated = {id(getattr(node, name, None)) for node in nodes for name in ("annotation", "returns")}
        self._is_module_known = imports.get("Module") == "torch.nn.Module"
        self.attributes, self._in_method, self._functions = known.ATTRIBUTES, False, 0
        self._found_in_modules: dict[int, object] = {}  # by the node, since chains of attributes may be long

    def require_known_globals(self, texts: Sequence[str], given: Set[str], parts: Set[str], taken: Set[str]) -> None:
        """What is read in no scope of its own is bound in some cell, or nowhere, or a name that is harmless."""
        tables = [symtable.symtable(text, "<cell>", "exec") for text in texts]
        bound = {name for table in tables for name in table.get_identifiers() if table.lookup(name).is_local()}
        read = {name for table in tables for name in _globals_of(table)}
        self._types |= {name for name in parts if name[:1].isupper()}
        self._defined |= parts - self._bound  # an argument by that name may be any function
        unknown = read - bound - parts - self._imported - self._called.keys() - known.BUILTINS
        unknown &= taken | given | vars(builtins).keys() | _OF_IPYTHON
        for name in (bound & given - self._imported - self._called.keys() - {"_"}) | unknown:
            _require(False, f"`{name}`")

    def generic_visit(self, node: ast.AST) -> None:
        """Go on where the kind of a node is known."""
        _require(isinstance(node, _STATEMENTS + _EXPRESSIONS), type(node).__name__)
        super().generic_visit(node)

    def visit(self, node: ast.AST) -> None:
        """Look at a node; an annotation computes nothing."""
        if id(node) in self._annotated:
            _require(_ANNOTATION.fullmatch(ast.unparse(node)) is not None, "an annotation")
            return
        super().visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """A name is the student's own, the lesson's, or one of Python's that is harmless."""
        is_dropped = node.id == "_" and not isinstance(node.ctx, ast.Load)  # read, it may be what IPython showed last
        _require(is_dropped or not _KEPT.fullmatch(node.id), f"`{node.id}`")
        if node.id == "self":
            _require(self._in_method, "`self` outside of a method")
        elif isinstance(node.ctx, ast.Load):
            _require(node.id != "super", "`super` that is held")
            is_constant = not _is_class(node.id) or node.id.isupper()
            held = self._classes | self._types | self._modules.keys() | self._foreign
            _require(is_constant and node.id not in held, f"`{node.id}`")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Of `self` an attribute is the student's own, of all else a harmless one, and only read."""
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            self.visit(node.value)
            is_own = node.attr not in _OF_MODULES and not node.attr.startswith("__")
            is_read = isinstance(node.ctx, ast.Load) and node.attr in known.ATTRIBUTES | _ON_SELF
            _require(is_own or is_read, f"`self.{node.attr}`")
            return
        is_known = node.attr in (self.attributes if isinstance(node.ctx, ast.Load) else STORED)
        is_known &= node.attr not in known.UNSAFE | known.MOST_BY_POSITION.keys() or self._module(node.value) is None
        is_held = isinstance(self._of_module(node), type | types.ModuleType)
        _require(is_known and not _is_class(node.attr) and not is_held, f"`.{node.attr}`")
        self._visit_owner(node.value)

    def _visit_owner(self, node: ast.expr) -> None:
        """Look at what stands before a dot; only there a module may: held, it could be changed like other objects."""
        if self._module(node) is None:
            self.visit(node)

    def _module(self, node: ast.expr) -> types.ModuleType | None:
        """The module that stands there by its name: `nn`, `torch.nn.init`."""
        if isinstance(node, ast.Name):
            return self._modules.get(node.id)
        found = self._of_module(node)
        return found if isinstance(found, types.ModuleType) else None

    def _of_module(self, node: ast.expr) -> object:
        """What stands there by its name in a module; None where it does not."""
        if isinstance(node, ast.Attribute) and node.attr in known.ATTRIBUTES and id(node) not in self._found_in_modules:
            above = self._module(node.value)
            self._found_in_modules[id(node)] = vars(above).get(node.attr) if above else None
        return self._found_in_modules.get(id(node))

    def visit_Call(self, node: ast.Call) -> None:
        """A class of the student's is only called; `super()` is only asked for what a method stands for."""
        called, rest = node.func, [*node.args, *node.keywords]
        self._require_checked(node)
        match called:
            case ast.Attribute(ast.Call(ast.Name("super"), [], []), name):
                _require(name in _METHODS, f"`super().{name}`")
            case ast.Name("isinstance") if len(node.args) == 2:
                self.visit(node.args[0])
                kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
                rest = [kind for kind in kinds if not self._names_class(kind) and ast.unparse(kind) not in _TENSOR]
                rest += node.keywords
            case ast.Name("print"):
                shown = [each for each in node.args if not (isinstance(each, ast.Name) and each.id in self._classes)]
                rest = shown + [each for each in node.keywords if not self._is_file(each)]
            case _ if self._path_called(called) not in (None, _PYPLOT):
                is_plain = len(node.args) <= 1 and not node.keywords
                _require(is_plain and not any(isinstance(each, ast.Starred) for each in node.args), "another argument")
            case ast.Attribute(owner, name) if name in known.MOST_BY_POSITION and not _is_class(name):
                self._visit_owner(owner)
            case _ if not self._names_class(called):
                self.visit(called)
        for each in rest:
            self.visit(each)

    def _require_checked(self, node: ast.Call) -> None:
        """A call has PyTorch write nowhere but where it looks."""
        called, names = node.func, {each.arg for each in node.keywords}
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        is_own = isinstance(called, ast.Name) and name in self._defined
        _require(not names & known.UNCHECKED and (None not in names or is_own), "a keyword")
        if name in known.MOST_BY_POSITION and not is_own:
            is_plain = not any(isinstance(each, ast.Starred) for each in node.args)
            _require(is_plain and len(node.args) <= known.MOST_BY_POSITION[name], f"another way to call `{name}`")
        _require(not (isinstance(called, ast.Attribute) and name == "indices"), "`.indices()`")

    def _path_called(self, node: ast.expr) -> str | None:
        """The module of which a function that may only be called stands there."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return None
        path = self._called.get(node.value.id)
        return path if path and node.attr in _CALLS[path] else None

    def _is_file(self, node: ast.keyword) -> bool:
        """Where `print` writes to."""
        return node.arg == "file" and ast.unparse(node.value) in _FILES and self._called.get("sys") == "sys"

    def _names_class(self, node: ast.expr) -> bool:
        """A class, by its name; which may be called, but never held, for its methods can be given another `self`."""
        if isinstance(node, ast.Attribute):
            is_class = _is_class(node.attr) or isinstance(self._of_module(node), type)
            return node.attr in known.ATTRIBUTES and is_class and self._module(node.value) is not None
        return (
            isinstance(node, ast.Name)
            and node.id not in self._foreign
            and (_is_class(node.id) or node.id in self._types)
        )

    def visit_With(self, node: ast.With) -> None:
        """What is switched off within is on again behind it: each is made there, and no generator stops there."""
        _require(not any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node)), "`yield` in `with`")
        _require(all(_CONTEXTS.fullmatch(ast.unparse(each)) for each in node.items), "`with` something else")
        for each in node.body:
            self.visit(each)

    def visit_Constant(self, node: ast.Constant) -> None:
        """A text holds no name that Python keeps to itself."""
        _require(not isinstance(node.value, str | bytes) or "__" not in str(node.value), "a text with `__`")

    def visit_Expr(self, node: ast.Expr) -> None:
        """A docstring may hold any text; what is drawn is on the page, and what a drawing returns is dropped."""
        if isinstance(node.value, ast.Call) and self._path_called(node.value.func) == _PYPLOT:
            self._drawing(node.value)
        elif not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    def _drawing(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        is_plain = not any(isinstance(each, ast.Starred | ast.Dict) for each in node.args)
        styles = (each.arg in _STYLES and (each.arg == "label" or _is_literal(each.value)) for each in node.keywords)
        _require(is_plain and len(node.args) <= _DRAWINGS[name] and all(styles), f"another way to call `{name}`")
        for each in [*node.args, *node.keywords]:
            self.visit(each)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """A class is made where all see its name, or it could stand for another one of that name."""
        self._functions += 1
        self.generic_visit(node)
        self._functions -= 1

    def visit_Import(self, node: ast.Import) -> None:
        """Some modules may be imported."""
        for alias in node.names:
            _require(alias.name in known.MODULES or alias.name in _CALLS, f"`import {alias.name}`")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Some things of some modules may be."""
        for alias in node.names:
            is_known = f"{node.module}.{alias.name}" in known.MODULES or alias.name in known.ATTRIBUTES - known.UNSAFE
            is_known &= _is_class(alias.name) or alias.name not in known.MOST_BY_POSITION
            is_known |= node.module == "typing" and alias.name in _TYPES and alias.asname is None
            is_known = is_known and (not _is_class(alias.name) or (alias.asname is None and not alias.name.isupper()))
            _require(not node.level and node.module in known.MODULES and is_known, f"`{node.module}.{alias.name}`")

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """A class is an `nn.Module` or a plain one, and holds nothing but methods."""
        _require(not self._functions, "a class in a function")
        bases = _BASES | self._classes | ({"Module"} if self._is_module_known else set())
        _require(_is_class(node.name), f"`class {node.name}`")
        plain = not node.keywords and not node.decorator_list and all(ast.unparse(base) in bases for base in node.bases)
        _require(plain, f"`class {node.name}`")
        for each in node.body:
            if isinstance(each, ast.FunctionDef):
                self._method(each)
            elif not isinstance(each, ast.Pass):
                is_docstring = isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
                _require(is_docstring, f"the body of `class {node.name}`")

    def _method(self, node: ast.FunctionDef) -> None:
        is_known = node.name in _METHODS or not (node.name in _OF_MODULES or node.name.startswith("__"))
        defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        _require(is_known and all(map(_is_constant, defaults)), f"`def {node.name}`")
        _require(all(ast.unparse(each) in _DECORATORS for each in node.decorator_list), f"`def {node.name}`")
        before, self._in_method = self._in_method, self._in_method or _takes_self(node)
        self.visit_FunctionDef(node)
        self._in_method = before


def _found(path: str) -> object:
    """What is imported by a path."""
    if path in known.MODULES:
        return importlib.import_module(path)
    module, _, name = path.rpartition(".")
    return vars(importlib.import_module(module)).get(name) if module in known.MODULES else None


def _is_usual(path: str) -> bool:
    """What is imported is a module that is known, or something from one that is none."""
    if path in known.MODULES or path.rpartition(".")[0] not in known.MODULES:
        return path in known.MODULES or path in _CALLS
    return not isinstance(_found(path), types.ModuleType)


def _globals_of(table: symtable.SymbolTable) -> Iterator[str]:
    """The names that a table and those within it read of no scope of their own."""
    for name in table.get_identifiers():
        symbol = table.lookup(name)
        if symbol.is_global() and symbol.is_referenced():
            yield name
    for child in table.get_children():
        yield from _globals_of(child)


def _takes_self(node: ast.stmt) -> bool:
    """A method whose first argument is `self`."""
    if not isinstance(node, ast.FunctionDef):
        return False
    return [each.arg for each in (node.args.posonlyargs + node.args.args)[:1]] == ["self"]


def _is_literal(node: ast.expr) -> bool:
    """A number, a text or a row of them."""
    return _is_constant(node) or (isinstance(node, ast.Tuple | ast.List) and all(map(_is_constant, node.elts)))


def _is_class(name: str) -> bool:
    """A name looks like one of a class, and is none that is of use without a call."""
    bare = name.lstrip("_")
    return bare[:1].isupper() and len(bare) > 1 and name not in _ERRORS


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise _Beyond(what)


def _bindings(node: ast.AST) -> Iterator[str]:
    """The names that a node binds, in whatever scope."""
    match node:
        case ast.Name(name, ast.Store() | ast.Del()) | ast.arg(name) | ast.ExceptHandler(_, str(name)):
            yield name
        case ast.FunctionDef(name) | ast.ClassDef(name):
            yield name
        case ast.alias(name, other_name):
            yield other_name or name.partition(".")[0]


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))
