"""Every kopf setting that matters here, each with its reason; nothing is left to a default that could change."""

import kopf

from specdec_operator.api.names import FIELD_MANAGER, GROUP

WATCH_SERVER_SECONDS = 300
"""The API server ends each watch after this long. A whole number: it refuses "300.0"."""
WATCH_CLIENT_SECONDS = 330
"""We end it ourselves when the server did not."""
SILENCE_SECONDS = 2 * WATCH_CLIENT_SECONDS
"""With no new list or watch request for this long, the watch counts as dead."""


def configure(settings: kopf.OperatorSettings) -> None:
    """Set what kopf may do for us: watch one kind, and nothing else."""
    # Handlers neither patch nor return anything, so none of these names is ever written. Set all the same, so that a
    # later handler cannot write into the space of other kopf operators or copy a whole spec into an annotation.
    settings.persistence.finalizer = f"{GROUP}/unused"
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage(prefix=GROUP, v1=False)
    settings.persistence.diffbase_storage = kopf.AnnotationsDiffBaseStorage(prefix=GROUP, v1=False)
    # Events are ours: they follow a successful write of status, which kopf cannot know.
    settings.posting.enabled = False
    settings.posting.loggers = False
    settings.posting.reporting_component = FIELD_MANAGER
    # A request without a deadline can hang for ever behind a broken load balancer.
    settings.networking.request_timeout = 30.0
    settings.networking.connect_timeout = 5.0
    # A stream that dies without a FIN is noticed three times over: no bookmark for 70 s, the server's end, our own end.
    settings.watching.server_timeout = WATCH_SERVER_SECONDS
    settings.watching.client_timeout = WATCH_CLIENT_SECONDS
    settings.watching.connect_timeout = 5.0
    settings.watching.inactivity_timeout = 70.0
    # A server that refuses watches at once is not hammered ten times a second.
    settings.watching.reconnect_backoff = 1.0
    # Listing thousands of objects in one answer would make both ends hold them all at once.
    settings.watching.chunk_size = 500
    # A limit below the number of objects can stall the first list; our own queue bounds the work.
    settings.queueing.worker_limit = None
    # Each object's handler task would otherwise outlive its only event by five seconds.
    settings.queueing.idle_timeout = 1.0
    # No handler is synchronous.
    settings.execution.max_workers = 1
    # The peering object "default" is shared with every kopf operator of the cluster and would pause this one.
    settings.peering.standalone = True
    # Namespaces and CRDs are not watched: our one kind is named in full, and the chart gives no right to list others.
    # The kind must be served when kopf starts, so the operator waits for that first.
    settings.scanning.disabled = True
    # Below the pod's terminationGracePeriodSeconds of 30, so that an exit that hangs is still ours.
    settings.process.ultimate_exiting_timeout = 25.0
