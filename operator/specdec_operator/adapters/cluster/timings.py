"""How long each kind of call may take, and how long a watch waits between attempts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """All in seconds.

    Attributes:
        connect: to open a connection.
        read: to read one object, and until a watch begins to answer.
        write: to write one object; admission webhooks of the cluster may take their time.
        list: to read one page of a list.
        emit: to record an event, which nobody waits for.
        watch: the server is asked to end a watch after 0.8 to 1.0 of this.
        inactivity: silence after which a watch is taken for dead; the server sends a bookmark every 60 s.
        pause_first: between the first failure of a watch and its next attempt; doubled with each failure.
        pause_longest: the limit of that.
    """

    connect: float = 5.0
    read: float = 15.0
    write: float = 30.0
    list: float = 60.0
    emit: float = 5.0
    watch: float = 300.0
    inactivity: float = 100.0
    pause_first: float = 0.5
    pause_longest: float = 30.0

    def pause(self, failures: int, retry_after: float | None, chance: float) -> float:
        """Return the wait before the next attempt of a watch.

        Args:
            failures: failed attempts in a row, from 1.
            retry_after: what the server asked for, never undercut.
            chance: from 0 to 1, adds up to half, so that many clients do not come back together.
        """
        doubled = self.pause_first * 2.0 ** min(failures - 1, 16)
        return max(min(doubled, self.pause_longest), retry_after or 0.0) * (1.0 + 0.5 * chance)
