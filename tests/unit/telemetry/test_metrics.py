"""The operator's own metrics."""

from prometheus_client import generate_latest

from specdec_operator.telemetry.metrics import Metrics, Signals


def exposed(metrics: Metrics) -> str:
    """Return what a scrape gets."""
    return generate_latest(metrics.registry).decode()


def test_signals_are_shown_by_object() -> None:
    """Every number under its own name."""
    metrics = Metrics()
    metrics.show("serving", "llama", Signals(concurrency=5.0, acceptance_length=2.4, break_even=20))
    text = exposed(metrics)
    assert 'specdec_concurrency{name="llama",namespace="serving"} 5.0' in text
    assert 'specdec_acceptance_length{name="llama",namespace="serving"} 2.4' in text
    assert 'specdec_break_even{name="llama",namespace="serving"} 20.0' in text


def test_a_number_that_is_missing_is_taken_away() -> None:
    """Missing is never 0, and never the last value."""
    metrics = Metrics()
    metrics.show("serving", "llama", Signals(concurrency=5.0))
    metrics.show("serving", "llama", Signals())
    assert "specdec_concurrency{" not in exposed(metrics)


def test_an_object_that_goes_takes_all_its_series_along() -> None:
    """Else a cluster with much coming and going would fill memory; other objects stay."""
    metrics = Metrics()
    for name in ("llama", "other"):
        metrics.show("serving", name, Signals(concurrency=5.0))
        metrics.switched("serving", name, "eagle3", "none", "PastBreakEven")
    metrics.forget("serving", "llama")
    metrics.forget("serving", "never-there")
    text = exposed(metrics)
    assert 'name="llama"' not in text
    assert text.count('name="other"') >= 2


def test_switches_are_counted_by_where_from_where_to_and_why() -> None:
    """The two ways are told apart."""
    metrics = Metrics()
    metrics.switched("serving", "llama", "eagle3", "none", "PastBreakEven")
    metrics.switched("serving", "llama", "none", "eagle3", "BelowBreakEven")
    metrics.switched("serving", "llama", "eagle3", "none", "PastBreakEven")
    labels = {"namespace": "serving", "name": "llama", "from": "eagle3", "to": "none", "reason": "PastBreakEven"}
    assert metrics.registry.get_sample_value("specdec_switches_total", labels) == 2


def test_two_processes_in_one_test_do_not_share_anything() -> None:
    """Each has a registry of its own."""
    Metrics().reconciles.labels("Done").inc()
    assert "Done" not in exposed(Metrics())
