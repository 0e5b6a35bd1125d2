"""demo.png: load, concurrency, active method and speed on one time axis."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from hack.demo.observe import Sample
from hack.demo.scenario import AUTO, TWIN, Scenario

OPERATOR = "#0072b2"
ALWAYS_ON = "#d55e00"
GREY = "#666666"
SHADE = {"none": "#f0e442"}


def draw(samples: Sequence[Sample], scenario: Scenario, path: Path) -> None:
    """Write the picture; `samples` are in order of time."""
    start = samples[0].at
    seconds = [sample.at - start for sample in samples]
    figure, (top, middle, bottom) = plt.subplots(3, 1, sharex=True, figsize=(10, 8.5), layout="constrained")
    _clients(top, seconds, samples)
    _concurrency(middle, seconds, samples, scenario)
    _speed(bottom, seconds, samples, scenario)
    for axes in (top, middle, bottom):
        axes.set_ylim(bottom=0)
        _shade(axes, seconds, samples)
        axes.grid(alpha=0.3)
    figure.suptitle(f"specdec-operator: {scenario.method} below break-even, plain decoding past it ({scenario.engine})")
    bottom.set_xlabel("seconds")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _clients(axes: Axes, seconds: list[float], samples: Sequence[Sample]) -> None:
    axes.plot(seconds, [sample.clients for sample in samples], color=GREY)
    axes.set_ylabel("offered load\n(clients)")


def _concurrency(axes: Axes, seconds: list[float], samples: Sequence[Sample], scenario: Scenario) -> None:
    axes.plot(seconds, [s.concurrency.get(AUTO, float("nan")) for s in samples], color=OPERATOR, label="operator")
    if scenario.has_twin:
        values = [s.concurrency.get(TWIN, float("nan")) for s in samples]
        axes.plot(seconds, values, color=ALWAYS_ON, linestyle="--", label="always-on twin")
    axes.axhline(scenario.break_even, color=GREY, linestyle=":", label=f"break-even B* = {scenario.break_even}")
    axes.set_ylabel("concurrency\n(running per engine)")
    axes.legend(loc="upper left", fontsize="small")


def _speed(axes: Axes, seconds: list[float], samples: Sequence[Sample], scenario: Scenario) -> None:
    axes.plot(seconds, [s.speed.get(AUTO, float("nan")) for s in samples], color=OPERATOR, label="operator")
    if scenario.has_twin:
        values = [s.speed.get(TWIN, float("nan")) for s in samples]
        axes.plot(seconds, values, color=ALWAYS_ON, linestyle="--", label="always-on twin")
    axes.set_ylabel("tokens per second\nper request")
    axes.legend(loc="lower right", fontsize="small")


def _shade(axes: Axes, seconds: list[float], samples: Sequence[Sample]) -> None:
    """Shade the time in which plain decoding is active."""
    begin: float | None = None
    for at, sample in zip([*seconds, seconds[-1]], [*samples, None], strict=True):
        plain = sample is not None and sample.method.get(AUTO) == "none"
        if plain and begin is None:
            begin = at
        if not plain and begin is not None:
            axes.axvspan(begin, at, color=SHADE["none"], alpha=0.25, label="_plain")
            top = axes.get_ylim()[1]
            axes.text((begin + at) / 2, top * 0.96, "plain decoding", ha="center", va="top", fontsize="small")
            begin = None
