"""`python -m hack.demo [--engine simulator|vllm]`: brings up the test bed, runs the story in it, takes it down."""

import argparse
import asyncio
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from hack.demo.cluster import CommandError
from hack.demo.picture import draw
from hack.demo.scenario import AUTO, ROOT, TWIN, Scenario, simulator_scenario, vllm_scenario
from hack.demo.screen import Screen, table
from hack.demo.story import DemoError, Ending, Story
from hack.vllm.install import InstallError, install, installed


def main() -> int:
    """Run the demo; exit code 0 only when everything that had to happen did."""
    parser = argparse.ArgumentParser(prog="python -m hack.demo", description=__doc__)
    parser.add_argument("--engine", choices=["simulator", "vllm"], default="simulator")
    parser.add_argument("--picture", type=Path, default=ROOT / "demo.png")
    options = parser.parse_args()
    try:
        if "SPECDEC_PROMETHEUS_URL" not in os.environ:
            return _inside_a_bed(options)
        return _run(_scenario(options.engine), options.picture)
    except (CommandError, DemoError, InstallError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1


def _inside_a_bed(options: argparse.Namespace) -> int:
    if options.engine == "vllm":
        install()
    command = [sys.executable, "-m", "hack.testbed", "run", "--name", "demo", "--", sys.executable, "-m", "hack.demo"]
    os.chdir(ROOT)
    arguments = [*command, "--engine", options.engine, "--picture", str(options.picture.absolute())]
    os.execv(sys.executable, arguments)  # noqa: S606 - no shell


def _scenario(engine: str) -> Scenario:
    if engine == "simulator":
        return simulator_scenario()
    found = installed()
    if found is None:
        raise InstallError("vLLM is not installed; run `python -m hack.vllm`")
    return vllm_scenario(found)


def _run(scenario: Scenario, picture: Path) -> int:
    screen = Screen()
    ending = asyncio.run(Story(scenario, screen, os.environ["SPECDEC_PROMETHEUS_URL"]).tell())
    draw(ending.samples, scenario, picture)
    picture.with_suffix(".json").write_text(json.dumps(asdict(ending), indent=1))
    screen.console.print(_speeds(ending), _facts(ending))
    for note in scenario.notes:
        screen.console.print(f"note: {note}", style="dim")
    screen.console.print(f"picture: {picture.name}, numbers: {picture.with_suffix('.json').name}")
    faults = _faults(ending)
    for fault in faults:
        screen.console.print(fault, style="red")
    return 1 if faults else 0


def _speeds(ending: Ending) -> object:
    rows = {}
    for chapter, speeds in ending.speeds.items():
        rows[chapter] = {name: f"{speed:.1f}" for name, speed in speeds.items()}
        if speeds.get(TWIN):
            rows[chapter]["operator over always-on"] = f"{speeds[AUTO] / speeds[TWIN] - 1:+.0%}"
    return table("tokens per second per request", rows)


def _facts(ending: Ending) -> object:
    rows = {
        name: {
            "requests": str(summary.requests),
            "failed": str(summary.failed),
            "cut": str(summary.cut),
            "tokens": str(summary.tokens),
        }
        for name, summary in ending.summaries.items()
    }
    return table("what clients saw", rows)


def _faults(ending: Ending) -> list[str]:
    found = [
        f"{name}: {summary.failed} requests failed and {summary.cut} were cut ({summary.errors})"
        for name, summary in ending.summaries.items()
        if not summary.clean
    ]
    if not ending.pods_kept:
        found.append("a pod, its node or its address changed; a switch in place keeps them all")
    return found


if __name__ == "__main__":
    sys.exit(main())
