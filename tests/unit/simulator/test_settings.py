"""The environment of the simulator."""

import pytest

from vllm_simulator.faults import Faults, MetricsFault
from vllm_simulator.settings import SettingError, read_settings


def test_the_defaults_are_the_weak_scenario() -> None:
    """A small accelerator that breaks even at about 18 requests, with vLLM 0.32.0."""
    settings = read_settings({"PATH": "/bin"})

    assert (settings.physics.step_seconds, settings.physics.token_seconds) == (0.015, 0.00025)
    assert (settings.physics.free_tokens, settings.physics.draft_cost) == (32, 0.12)
    assert str(settings.release) == "0.32.0"
    assert settings.faults == Faults()


def test_everything_can_be_set() -> None:
    """Each variable reaches its field."""
    settings = read_settings(
        {
            "SIMULATOR_STEP_SECONDS": "0.02",
            "SIMULATOR_ACCEPTANCE": "[0.9, 0.1]",
            "SIMULATOR_STARTUP_SECONDS": "7",
            "SIMULATOR_KV_TOKENS": "1000",
            "SIMULATOR_RELEASE": "0.24.0",
            "SIMULATOR_TIME_SCALE": "10",
            "SIMULATOR_FAULTS": '{"metrics": "nan", "startup_factor": 3}',
        }
    )

    assert settings.physics.step_seconds == 0.02
    assert settings.acceptance.chances == (0.9, 0.1)
    assert (settings.startup_seconds, settings.kv_tokens, settings.time_scale) == (7, 1000, 10)
    assert settings.faults == Faults(metrics=MetricsFault.NAN, startup_factor=3)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("STEP_SECOND", "1", "SIMULATOR_STEP_SECOND is not known; known are ACCEPTANCE"),
        ("STEP_SECONDS", "fast", "STEP_SECONDS must be a finite number of at least 0, not 'fast'"),
        ("STEP_SECONDS", "nan", "must be a finite number"),
        ("TOKEN_SECONDS", "-1", "must be a finite number"),
        ("TIME_SCALE", "0", "of at least 0.001"),
        ("KV_TOKENS", "many", "must be a whole number of at least 1, not 'many'"),
        ("ACCEPTANCE", "1.5", "acceptance must be a number from 0 to 1"),
        ("ACCEPTANCE", "[]", "acceptance must be a number from 0 to 1"),
        ("ACCEPTANCE", "half", "SIMULATOR_ACCEPTANCE is not JSON: 'half'"),
        ("ACCEPTANCE_LENGTH", "0.5", "must be a finite number of at least 1"),
        ("RELEASE", "newest", "must be a vLLM release like 0.32.0, not 'newest'"),
        ("METHODS", "[]", "must be a JSON object of objects"),
        ("METHODS", '{"ngram": {"speed": 1}}', "ngram.speed is not known; use acceptance"),
        ("METHODS", '{"ngram": {"acceptance": 2}}', "acceptance must be"),
        ("FAULTS", '{"metrics": 1}', "fault 'metrics' must be one of ok"),
    ],
)
def test_wrong_variables_are_refused_by_name(name: str, value: str, message: str) -> None:
    """The message says variable, value and what may stand there."""
    with pytest.raises(SettingError) as caught:
        read_settings({f"SIMULATOR_{name}": value})

    assert message in str(caught.value)
