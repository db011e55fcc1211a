# SPDX-License-Identifier: BSD-3-Clause
"""The trailer of result files: digests of their blocks (docs/format.md, "The trailer")."""
import os
import struct
from typing import Any, BinaryIO

from .errors import CachetallyError

xxhash: Any
try:
    import xxhash
except ImportError:  # Debian: python3-xxhash is recommended, not required
    xxhash = None

_BLOCK = 1 << 20
_END = struct.Struct("<8sIIQQ")  # the last 32 bytes: magic, version, bytes of a block, size of the HDF5 file, digest of the trailer
_AGAIN = "copy it again, or make it anew"


def verify(path: str) -> bool:
    """Reads a file once, a block at a time, and compares it with its digests.

    Returns whether digests were compared: without python3-xxhash only the trailer's form and the file's length are. Raises CachetallyError where
    the file is damaged, or has no trailer, as of another program's files.
    """
    with open(path, "rb") as file:
        length = os.fstat(file.fileno()).st_size
        if length < _END.size:
            raise CachetallyError(f"{path}: is no result of cachetally: it has {length} bytes")
        file.seek(length - _END.size)
        magic, version, block, size, own = _END.unpack(file.read(_END.size))
        if magic != b"CTDIGEST":
            raise CachetallyError(
                f"{path}: does not end in its digests: it is cut off, damaged, or another program wrote it; {_AGAIN}, or read it as it is with trust=True"
            )
        if (version, block) != (1, _BLOCK):
            raise CachetallyError(f"{path}: has digests of version {version} in blocks of {block} bytes, which only a later cachetally knows, or is damaged")
        blocks = -(-size // _BLOCK)
        if length != size + 8 * blocks + _END.size:
            raise CachetallyError(f"{path}: is damaged: it should have {size + 8 * blocks + _END.size} bytes and has {length}; {_AGAIN}")
        if xxhash is None:
            return False
        _verify_blocks(path, file, size, blocks, own)
    return True


def _verify_blocks(path: str, file: BinaryIO, size: int, blocks: int, own: int) -> None:
    file.seek(size)
    trailer = file.read(8 * blocks + _END.size)
    if xxhash.xxh3_64_intdigest(trailer[:-8]) != own:
        raise CachetallyError(f"{path}: is damaged: its digests are not what was written; {_AGAIN}")
    file.seek(0)
    for number, digest in enumerate(struct.unpack(f"<{blocks}Q", trailer[: 8 * blocks])):
        begin = number * _BLOCK
        data = file.read(min(_BLOCK, size - begin))
        if xxhash.xxh3_64_intdigest(data) != digest:
            raise CachetallyError(f"{path}: is damaged: bytes {begin} to {begin + len(data) - 1} are not what was written; {_AGAIN}")
