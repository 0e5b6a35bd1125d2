"""Splits the stream of a watch into lines. Pure."""

from typing import Final

MAX_LINE: Final = 64 * 1024 * 1024
"""Bytes. The API server stores no object above 1.5 MiB; a longer line is not a watch event."""


class LineSplitter:
    """Collects chunks of any size and gives whole lines, however the network cut them."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """Add a chunk; return the lines that are whole now, without line ends and without empty ones.

        Raises:
            ValueError: an unfinished line passed the limit.
        """
        end = chunk.rfind(b"\n")
        if end < 0:
            self._rest += chunk
            self._check()
            return []
        whole = bytes(self._rest) + chunk[:end]
        self._rest = bytearray(chunk[end + 1 :])
        self._check()
        return [line for line in whole.split(b"\n") if line.strip()]

    def _check(self) -> None:
        if len(self._rest) > self._limit:
            raise ValueError(f"a line of the watch is longer than {self._limit} bytes")
