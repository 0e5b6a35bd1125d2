"""Metric families as data."""

from packaging.version import Version

from vllm_simulator.families import ENGINE, SPECULATION, families, token_buckets


def test_token_buckets_go_up_to_the_models_length() -> None:
    """1, 2, 5 and their tens."""
    assert token_buckets(512) == (1, 2, 5, 10, 20, 50, 100, 200, 500)
    assert token_buckets(1) == (1,)


def test_speculation_has_series_exactly_when_it_is_on() -> None:
    """Once off, acceptance is unknown."""
    on = set(families(Version("0.32.0"), speculating=True))
    off = set(families(Version("0.32.0"), speculating=False))

    assert on - off == set(SPECULATION)


def test_names_are_unique() -> None:
    """A family twice would break the registry."""
    names = [family.name for family in (*SPECULATION, *ENGINE)]

    assert len(names) == len(set(names))
