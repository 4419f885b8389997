"""What an answer does to values that the check and it share earns nothing: writing into inputs, hiding its weights."""

import ast

import pytest
from support.classroom import LESSONS, classroom

EXERCISES = [(lesson, name) for lesson in LESSONS for name in classroom(lesson).answers]
SPOIL = """
import functools

def spoiled(value):
    if isinstance(value, list | tuple):
        return type(value)(map(spoiled, value))
    if not isinstance(value, torch.Tensor):
        return value
    value = value if {in_place} else value.detach().clone().requires_grad_(value.requires_grad)
    with torch.no_grad():
        return value.zero_()

def spoils(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        return function(*map(spoiled, args), **{{name: spoiled(value) for name, value in kwargs.items()}})
    return call
"""
HIDE = """
class {name}({name}):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.zero_()
        self.__dict__.update(self._modules | self._parameters)
        self._modules.clear(), self._parameters.clear()
"""
ERASE = """
class {name}({name}):
    def forward(self, *args, **kwargs):
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.zero_()
        return super().forward(*args, **kwargs)
"""
MODULES = [
    (lesson, name, node.name)
    for lesson, name in EXERCISES
    for node in ast.parse(classroom(lesson).answers[name]).body
    if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "nn.Module" for base in node.bases)
]
WITHOUT_WEIGHTS = "PositionalEncoding"


def calls_of(source: str) -> list[str]:
    """The functions of an answer, and the methods of its classes, by the names that one assigns to."""
    names = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            names.append(node.name)
        elif isinstance(node, ast.ClassDef):
            methods = [each.name for each in node.body if isinstance(each, ast.FunctionDef)]
            names += [f"{node.name}.{method}" for method in methods if method != "__init__"]
    return names


@pytest.mark.parametrize(("lesson", "name"), EXERCISES)
def test_zeros_written_into_the_inputs_gain_nothing(lesson: str, name: str) -> None:
    """Who fills all tensors that it is given with zeros passes no check that one who does so with copies fails."""
    room = classroom(lesson)
    source, passed = room.answers[name], {}
    for in_place in (True, False):
        spoiling = [f"{call} = spoils({call})" for call in calls_of(source)]
        answer = "\n".join([source, SPOIL.format(in_place=in_place), *spoiling])
        results = room.grade({name: answer}, exercise=name)
        passed[in_place] = {result.check for result in results if result.passed}
    assert passed[True] <= passed[False]


@pytest.mark.parametrize("spoil", [HIDE, ERASE], ids=["hidden", "erased"])
@pytest.mark.parametrize(("lesson", "name", "module"), MODULES)
def test_zeros_for_weights_are_no_right_values(lesson: str, name: str, module: str, spoil: str) -> None:
    """Layers that PyTorch does not know of, and weights that a call erases, pass no check of values."""
    room = classroom(lesson)
    results = room.grade({name: room.answers[name] + spoil.format(name=module)}, exercise=name)
    judged = [result for result in results if "_values" in result.check and module != WITHOUT_WEIGHTS]
    judged = [result for result in judged if ("decoder" in result.check) == (module == "Decoder")]
    assert not [result.check for result in judged if result.passed]
