"""The framing that ledger and audit lines share: a JSON object whose last member is its MAC.

``{…,"mac":"1:<key id>:<64 hex>"}`` and a newline; the MAC covers the chain's name and the line's
bytes before ``,"mac"``, under the key of the chain's tenant.
"""

from __future__ import annotations

from hmac import compare_digest
from typing import Final

from nsstore import digests
from nsstore.trust.cells import Chain
from nsstore.trust.keys import Keys

_MARK: Final = b',"mac":"1:'
_MAC_AT: Final = len(_MARK) + 8
_TAIL: Final = _MAC_AT + 1 + 64 + len(b'"}\n')


class BadLine(ValueError):
    """A line that is not, byte for byte, a line of this chain; says which rule it breaks."""


def frame(keys: Keys, chain: Chain, person: bytes, body: bytes, key_id: str) -> tuple[bytes, bytes]:
    """Put the MAC behind an encoded JSON object: the line with its newline, and the MAC.

    Raises :class:`BadLine` if the key is not here.
    """
    return Framer(keys, chain, person, key_id).frame(body)


class Framer:
    """Frames the lines of one chain as :func:`frame` does; what every MAC begins with is hashed once."""

    __slots__ = ("_begun", "_ending", "key_id")

    def __init__(self, keys: Keys, chain: Chain, person: bytes, key_id: str) -> None:
        key = keys.tenant(key_id, chain.tenant)
        if key is None:
            raise BadLine("a key that is not here")
        self.key_id = key_id
        self._begun = digests.begun(key, person, chain.prefix)
        self._ending = b'%%b,"mac":"1:%b:%%b"}\n' % key_id.encode()

    def frame(self, body: bytes) -> tuple[bytes, bytes]:
        """The line of an encoded JSON object with its newline, and its MAC."""
        open_body = body[:-1]
        running = self._begun.copy()
        running.update(open_body)
        mac = running.digest()
        return self._ending % (open_body, mac.hex().encode()), mac


def unframe(keys: Keys, chain: Chain, person: bytes, raw: bytes) -> tuple[bytes, str, bytes]:
    """The verified JSON object of a line, its key id and its MAC. Raises :class:`BadLine`."""
    cut = len(raw) - _TAIL
    open_body, tail = raw[:cut], raw[cut:]
    if cut < 2 or not tail.startswith(_MARK) or not tail.endswith(b'"}\n'):
        raise BadLine("no line of a chain")
    key_id = tail[len(_MARK) : _MAC_AT].decode("ascii", "replace")
    key = keys.tenant(key_id, chain.tenant)
    if key is None:
        raise BadLine("a key that is not here")
    digits = digests.mac(key, person, chain.prefix, open_body)
    if not compare_digest(tail[_MAC_AT:-3], b":" + digits.hex().encode()):
        raise BadLine("a MAC that is not this chain's")
    return open_body + b"}", key_id, digits
