"""The one exception whose message is meant for the user."""


class TestbedError(Exception):
    """Something the user can act on; the message names what failed and the remedy."""

    __test__ = False
