"""What kopf is told, and what it is never given."""

import kopf
import pytest

from specdec_operator.controller.handlers import build_registry
from specdec_operator.controller.settings import SILENCE_SECONDS, configure


@pytest.fixture(name="settings")
def _settings() -> kopf.OperatorSettings:
    settings = kopf.OperatorSettings()
    configure(settings)
    return settings


def test_every_stream_and_request_has_a_deadline(settings: kopf.OperatorSettings) -> None:
    """G5-02: a watch that goes deaf is noticed by three independent timeouts, and no request hangs for ever."""
    watching, networking = settings.watching, settings.networking
    assert watching.server_timeout == 300
    assert watching.client_timeout == 330
    assert watching.connect_timeout == 5
    assert watching.inactivity_timeout == 70
    assert networking.request_timeout == 30
    assert networking.connect_timeout == 5
    assert 2 * watching.client_timeout == SILENCE_SECONDS


def test_the_server_timeout_is_a_whole_number(settings: kopf.OperatorSettings) -> None:
    """It goes into the query as it is, and the API server refuses "300.0"."""
    assert isinstance(settings.watching.server_timeout, int)


def test_kopf_posts_no_events_and_joins_no_peering(settings: kopf.OperatorSettings) -> None:
    """Events are ours; the peering object "default" belongs to everybody."""
    assert not settings.posting.enabled
    assert not settings.posting.loggers
    assert settings.peering.standalone


def test_whatever_kopf_could_persist_would_carry_our_own_prefix(settings: kopf.OperatorSettings) -> None:
    """No annotation or finalizer of kopf's default name, which all kopf operators share."""
    assert settings.persistence.finalizer.startswith("specdec.dev/")
    for storage in (settings.persistence.progress_storage, settings.persistence.diffbase_storage):
        assert getattr(storage, "prefix", None) == "specdec.dev"


def test_only_our_kind_is_watched_and_no_handler_can_patch() -> None:
    """One event handler with group, version and plural; no change handler, daemon, timer or index."""
    registry = build_registry(seen=lambda _key, _body: None, beat=lambda: None)
    watching = list(registry._watching.get_all_handlers())
    assert [handler.fn.__name__ for handler in watching] == ["wake"]
    selector = watching[0].selector
    assert selector is not None
    assert (selector.group, selector.version, selector.plural) == ("specdec.dev", "v1alpha1", "specdecdeployments")
    for family in ("_changing", "_spawning", "_indexing", "_webhooks"):
        assert not list(getattr(registry, family).get_all_handlers())


def test_nothing_but_our_own_login_is_used() -> None:
    """Kopf would log in through whatever client library it can import."""
    registry = build_registry(seen=lambda _key, _body: None, beat=lambda: None)
    names = {handler.fn.__name__ for handler in registry._activities.get_all_handlers()}
    assert names == {"start", "login"}
