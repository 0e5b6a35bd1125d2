"""The section `prometheus` of the operator's configuration."""

import pytest
from pydantic import ValidationError

from specdec_operator.adapters.prometheus import PrometheusConfiguration
from specdec_operator.adapters.prometheus.transport import LONGEST_EXCERPT, excerpt


def test_names_are_camel_case_and_defaults_are_the_usual_ones():
    """As in every other YAML of a cluster."""
    found = PrometheusConfiguration.model_validate(
        {"url": "http://prometheus:9090/", "timeoutSeconds": 5, "labels": {"pod": "exported_pod"}}
    )
    assert (found.url, found.timeout_seconds) == ("http://prometheus:9090", 5)
    assert (found.labels.namespace, found.labels.pod) == ("namespace", "exported_pod")


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"url": "prometheus:9090"}, "write one such as http://"),
        ({"url": "ftp://prometheus"}, "write one such as http://"),
        ({"url": "http://prometheus/?x=1"}, "write one such as http://"),
        ({"url": "http://user:secret@prometheus"}, "tokenFile"),
        ({"url": "http://p", "labels": {"pod": "a-b"}}, "labels.pod"),
        ({"url": "http://p", "extraMatchers": {'a="b",c': "x"}}, "extraMatchers"),
        ({"url": "http://p", "headers": {"X-Tenant": "a\r\nX-Other: b"}}, "headers"),
        ({"url": "http://p", "timeoutSeconds": 0}, "timeoutSeconds"),
        ({"url": "http://p", "windowSecond": 30}, "windowSecond"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(fields, word):
    """Also a misspelt field, which would else be ignored."""
    with pytest.raises(ValidationError) as refused:
        PrometheusConfiguration.model_validate(fields)
    assert word in str(refused.value)


def test_a_password_in_the_address_is_not_repeated():
    """Error messages end up in logs."""
    with pytest.raises(ValidationError) as refused:
        PrometheusConfiguration.model_validate({"url": "http://user:secret@prometheus"})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<html><style>p {}</style><p>Bad\n\n  gateway.</p></html>", "Bad gateway"),
        ("", "no text"),
        ("plain", "plain"),
    ],
)
def test_an_excerpt_has_no_markup(text, shown):
    """One line."""
    assert excerpt(text) == shown


def test_an_excerpt_is_short():
    """Whatever the server sent."""
    assert len(excerpt("word " * 1000)) == LONGEST_EXCERPT
