"""Whether what the API server holds still says what was rendered: it adds defaults and spells quantities anew."""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Final

_SUFFIXES: Final = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    "k": Decimal(1000),
    **{letter: Decimal(1000) ** power for power, letter in enumerate("MGTPE", start=2)},
    **{f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", start=1)},
}


def holds(live: object, rendered: object) -> bool:
    """Say whether everything rendered is in `live`; what `live` has beyond that is defaults or somebody else's.

    Empty values count as absent, because the API server drops most of them.
    """
    if isinstance(rendered, Mapping):
        entries = live if isinstance(live, Mapping) else {}
        return all(holds(entries.get(name), value) for name, value in rendered.items())
    if isinstance(rendered, Sequence) and not isinstance(rendered, str):
        items = live if isinstance(live, Sequence) and not isinstance(live, str) else ()
        return len(items) == len(rendered) and all(map(holds, items, rendered))
    if live is None:
        return not rendered
    return _same_scalar(live, rendered)


def _same_scalar(live: object, rendered: object) -> bool:
    if type(live) is type(rendered) and live == rendered:
        return True
    if isinstance(live, Mapping | list | bool) or isinstance(rendered, bool):
        return False
    one, other = _quantity(live), _quantity(rendered)
    return one is not None and one == other


def _quantity(value: object) -> Decimal | None:
    text = str(value)
    digits = text.rstrip("".join({*"numkMGTPEKi"}))
    factor = _SUFFIXES.get(text[len(digits) :])
    if factor is None:
        return None
    try:
        return Decimal(digits) * factor
    except InvalidOperation:
        return None
