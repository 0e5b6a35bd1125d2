"""What the environment says about the simulated engine: every `SIMULATOR_*` variable, checked once at the start.

docs/simulator.md has the table for users.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from packaging.version import InvalidVersion, Version

from vllm_simulator.faults import FaultError, Faults, change
from vllm_simulator.physics import Acceptance, Physics, chance_for

PREFIX = "SIMULATOR_"
_PHYSICS = {
    "STEP_SECONDS": "step_seconds",
    "TOKEN_SECONDS": "token_seconds",
    "FREE_TOKENS": "free_tokens",
    "DRAFT_COST": "draft_cost",
    "PREFILL_TOKEN_SECONDS": "prefill_token_seconds",
    "IDLE_DRAFT_COST": "idle_draft_cost",
}
_METHOD_KEYS = ("acceptance", "acceptance_length", "startup_seconds", "faults", *_PHYSICS.values())
_OTHER = (
    *("ACCEPTANCE", "ACCEPTANCE_LENGTH", "STARTUP_SECONDS", "REFUSE_SECONDS", "KV_TOKENS", "OUTPUT_TOKENS"),
    *("SEED", "RELEASE", "TIME_SCALE", "METHODS", "FAULTS"),
)


class SettingError(ValueError):
    """A variable has a value that means nothing; the message names variable, value and remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The simulated engine as the environment describes it, before the command line is known."""

    physics: Physics = field(default_factory=Physics)
    acceptance: Acceptance = field(default_factory=lambda: Acceptance((0.622,)))
    """Chance of each draft; the default gives an acceptance length of 2.4 with four drafts."""
    acceptance_length: float | None = None
    """Overrides `acceptance` by the one chance that gives this length."""
    startup_seconds: float = 3.0
    refuse_seconds: float = 1.0
    """From the start to the end of a process whose configuration is refused."""
    kv_tokens: int = 262_144
    output_tokens: int = 256
    """Length of an answer whose request names no `max_tokens` and whose end the model finds itself."""
    seed: int = 0
    release: Version = field(default_factory=lambda: Version("0.32.0"))
    time_scale: float = 1.0
    """How many times faster than real the engine runs."""
    faults: Faults = field(default_factory=Faults)
    methods: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def chances(self, drafts: int) -> Acceptance:
        """The acceptance that holds for this many drafts."""
        if self.acceptance_length is None:
            return self.acceptance
        return Acceptance((chance_for(min(self.acceptance_length, drafts + 1.0), drafts),))

    def under(self, method: str) -> "Settings":
        """The settings with the overrides of one method (`none` for plain decoding)."""
        return _overridden(self, self.methods.get(method, {}))


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read all variables.

    Raises:
        SettingError: a value is not usable, or a variable with our prefix is not known.
    """
    given = {name.removeprefix(PREFIX): value for name, value in environment.items() if name.startswith(PREFIX)}
    unknown = sorted(set(given) - set(_PHYSICS) - set(_OTHER))
    if unknown:
        raise SettingError(f"{PREFIX}{unknown[0]} is not known; known are {', '.join(sorted({*_PHYSICS, *_OTHER}))}")
    settings = Settings(
        physics=Physics(**{_PHYSICS[name]: _number(name, given[name]) for name in _PHYSICS if name in given}),
        startup_seconds=_number("STARTUP_SECONDS", given.get("STARTUP_SECONDS", "3")),
        refuse_seconds=_number("REFUSE_SECONDS", given.get("REFUSE_SECONDS", "1")),
        kv_tokens=_count("KV_TOKENS", given.get("KV_TOKENS", "262144"), least=1),
        output_tokens=_count("OUTPUT_TOKENS", given.get("OUTPUT_TOKENS", "256"), least=1),
        seed=_count("SEED", given.get("SEED", "0")),
        release=_release(given.get("RELEASE", "0.32.0")),
        time_scale=_number("TIME_SCALE", given.get("TIME_SCALE", "1"), least=0.001),
        faults=_faults("FAULTS", _json("FAULTS", given.get("FAULTS", "{}"))),
        methods=_methods(_json("METHODS", given.get("METHODS", "{}"))),
    )
    return _with_acceptance(settings, given)


def _with_acceptance(settings: Settings, given: Mapping[str, str]) -> Settings:
    values = {key.lower(): _json(key, given[key]) for key in ("ACCEPTANCE", "ACCEPTANCE_LENGTH") if given.get(key)}
    return _overridden(settings, values)


def _overridden(settings: Settings, values: Mapping[str, Any]) -> Settings:
    physics = {key: _number(key, values[key]) for key in _PHYSICS.values() if key in values}
    settings = replace(settings, physics=replace(settings.physics, **physics))
    if "acceptance" in values:
        settings = replace(settings, acceptance=_acceptance(values["acceptance"]), acceptance_length=None)
    if "acceptance_length" in values:
        settings = replace(
            settings, acceptance_length=_number("acceptance_length", values["acceptance_length"], least=1)
        )
    if "startup_seconds" in values:
        settings = replace(settings, startup_seconds=_number("startup_seconds", values["startup_seconds"]))
    if "faults" in values:
        settings = replace(settings, faults=_faults("faults", values["faults"], settings.faults))
    return settings


def _methods(value: object) -> Mapping[str, Mapping[str, Any]]:
    if not isinstance(value, dict) or not all(isinstance(entry, dict) for entry in value.values()):
        raise SettingError(f"{PREFIX}METHODS must be a JSON object of objects, one a method, not {value!r}")
    for method, entry in value.items():
        unknown = sorted(set(entry) - set(_METHOD_KEYS))
        if unknown:
            raise SettingError(f"{PREFIX}METHODS: {method}.{unknown[0]} is not known; use {', '.join(_METHOD_KEYS)}")
        _overridden(Settings(), entry)
    return value


def _acceptance(value: object) -> Acceptance:
    chances: list[Any] = value if isinstance(value, list) else [value]
    if not chances or not all(isinstance(c, int | float) and 0 <= c <= 1 for c in chances):
        raise SettingError(
            f"acceptance must be a number from 0 to 1, or a list with one for each position, not {value!r}"
        )
    return Acceptance(tuple(float(c) for c in chances))


def _faults(name: str, value: object, base: Faults | None = None) -> Faults:
    try:
        return change(base or Faults(), value)
    except FaultError as error:
        raise SettingError(f"{name}: {error}") from error


def _json(name: str, text: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise SettingError(f"{PREFIX}{name} is not JSON: {text!r}") from error


def _number(name: str, value: object, *, least: float = 0.0) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number < least:
        raise SettingError(f"{name} must be a finite number of at least {least:g}, not {value!r}")
    return number


def _count(name: str, text: str, *, least: int = 0) -> int:
    if not text.isdecimal() or int(text) < least:
        raise SettingError(f"{PREFIX}{name} must be a whole number of at least {least}, not {text!r}")
    return int(text)


def _release(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion as error:
        raise SettingError(f"{PREFIX}RELEASE must be a vLLM release like 0.32.0, not {text!r}") from error
