"""Figures with something to move."""

import inspect
from collections.abc import Callable, Container, Sequence
from functools import cached_property
from typing import Any

from autograder.draw.picture import Picture, somebody_watches

WIDGET = "application/vnd.jupyter.widget-view+json"
FEW = 6  # so many choices stand beside each other as buttons; more are a slider


class Explorer:
    """A figure whose arguments a reader can choose, see `explore`.

    Attributes:
        start: the arguments at first.
    """

    def __init__(self, make: Callable[..., Picture], choices: dict[str, list[Any]]) -> None:
        self._make = make
        self._choices = choices
        self._drawn: dict[tuple[Any, ...], Picture] = {}
        self.start = _start(make, choices)

    def at(self, **chosen: Any) -> Picture:
        """The figure for these arguments, each drawn once."""
        key = tuple((self.start | chosen).values())
        if key not in self._drawn:
            self._drawn[key] = self._make(**self.start | chosen)
        return self._drawn[key]

    @cached_property
    def still(self) -> Picture:
        """The figure where nothing can be moved."""
        return self.at()

    def _ipython_display_(self) -> None:
        if not somebody_watches():
            raise NotImplementedError  # by which IPython shows the still figure
        try:
            import ipywidgets
        except ImportError:
            raise NotImplementedError from None
        from IPython.display import display

        controls = {
            name: _control(ipywidgets, name, values, self.start[name]) for name, values in self._choices.items()
        }
        view = ipywidgets.VBox(list(controls.values()))._repr_mimebundle_()
        names = ", ".join(controls)
        controls_view = {WIDGET: view[WIDGET], "text/plain": f"[controls, once this cell has run: {names}]"}
        display(controls_view, raw=True)
        shown = display(self.still, display_id=True)

        def moved(_: object) -> None:
            try:
                shown.update(self.at(**{name: control.value for name, control in controls.items()}))
            except Exception as error:  # there is no cell below which it could appear
                shown.update({"text/plain": f"{type(error).__name__}: {error}"}, raw=True)

        for control in controls.values():
            control.observe(moved, names="value")

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        return self.still._repr_mimebundle_(include, exclude)

    def __repr__(self) -> str:
        return repr(self.still)


def explore(make: Callable[..., Picture], /, **choices: Sequence[Any]) -> Explorer:
    """A figure that a reader can move: `make` draws it, and each of its arguments named here gets a control.

    Where somebody watches and ipywidgets is installed, controls stand above the figure. Everywhere else there is the
    figure alone, for the defaults of `make`, or the first of the choices where it has none.

    Args:
        make: returns a `Picture` for one value of each argument; called again whenever one of them is moved.
        choices: the name of an argument → the values that it may have, in the order of the control.

    Raises:
        ValueError: `make` takes no such argument, there is nothing to choose from, or its default is no choice.
    """
    return Explorer(make, {name: list(values) for name, values in choices.items()})


def _start(make: Callable[..., Picture], choices: dict[str, list[Any]]) -> dict[str, Any]:
    parameters = inspect.signature(make).parameters
    start = {}
    for name, values in choices.items():
        if name not in parameters:
            raise ValueError(f"make takes no argument {name!r}; it takes {', '.join(parameters) or 'none'}.")
        if not values:
            raise ValueError(f"{name} has no values to choose from; give at least one.")
        default = parameters[name].default
        start[name] = values[0] if default is inspect.Parameter.empty else default
        if start[name] not in values:
            raise ValueError(f"{name}={start[name]!r}, the default of make, is not among its choices; add it.")
    return start


def _control(ipywidgets: Any, name: str, values: list[Any], start: Any) -> Any:
    """Buttons or a slider, with a name in words."""
    wide = {"description_width": "initial"}
    options = {"options": values, "value": start, "description": name.replace("_", " "), "style": wide}
    if len(values) <= FEW:
        return ipywidgets.ToggleButtons(**options | {"style": {"button_width": "4.5em", **wide}})
    return ipywidgets.SelectionSlider(**options, continuous_update=False, layout={"width": "32em"})
