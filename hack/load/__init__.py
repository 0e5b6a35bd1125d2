"""Load on an OpenAI-style server: streams of known length, counted one by one.

Use it as `python -m hack.load --help`, or from code: describe a `Load`, run it with `run_load`, watch its `Timeline`.
"""

from hack.load.plan import Load, Phase, PlanError, read_phases
from hack.load.records import Outcome, Record, Summary, Timeline
from hack.load.runner import run_load

__all__ = ["Load", "Outcome", "Phase", "PlanError", "Record", "Summary", "Timeline", "read_phases", "run_load"]
