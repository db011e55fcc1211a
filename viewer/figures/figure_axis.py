# SPDX-License-Identifier: BSD-3-Clause


# The axis of addresses: a part of the script after figure.py.

AXIS_RULE = DRAWING["axis"]

class Axis:
    """Addresses side by side without the holes between them, as docs/viewer.md ("The axis of addresses") says and the page does
    (viewer/web/src/axis.ts); a test lays both side by side."""

    def __init__(self, address, line):
        """`line`: bytes of all lines, or of each."""
        line = np.broadcast_to(np.asarray(line, np.uint64), address.shape)
        unit, page = line.max(), np.uint64(AXIS_RULE["page_bytes"])
        last = address + (line - np.uint64(1))
        first_page = address // page
        each = (last // page - first_page + np.uint64(1)).astype(np.int64)  # pages of each line
        pages = np.unique(np.repeat(first_page, each).astype(np.int64) + np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each))
        hole = max(AXIS_RULE["least_hole_pages"], len(pages) // AXIS_RULE["pages_per_hole_page"])
        while np.count_nonzero(np.diff(pages) > hole) >= AXIS_RULE["most_stretches"]:
            hole *= AXIS_RULE["hole_growth"]
        breaks = np.flatnonzero(np.diff(pages) > hole)
        order = np.argsort(address, kind="stable")
        begin = np.searchsorted(address[order], pages[np.r_[0, breaks + 1]].astype(np.uint64) * page)
        self.base = address[order][begin] // unit * unit
        bytes_of = (np.maximum.reduceat(last[order], begin) - self.base) // unit * unit + unit
        self.bytes = bytes_of.astype(float)
        total, gap = np.cumsum(self.bytes)[-1], 0.0
        if len(breaks) > 0:
            gap = np.ceil(min(total * AXIS_RULE["gap_share"], total * AXIS_RULE["gaps_share"] / len(breaks)))
        self.start = np.r_[0.0, np.cumsum(self.bytes + gap)[:-1]]
        self.length = self.start[-1] + self.bytes[-1]

    def place(self, address):
        stretch = np.clip(np.searchsorted(self.base, address, side="right") - 1, 0, len(self.base) - 1)
        return self.start[stretch] + np.minimum((address - self.base[stretch]).astype(float), self.bytes[stretch])

    def stretch(self, base, size):
        """Where a structure lies; None where none of it is there."""
        parts = [(start + max(0, base - int(own)), start + min(bytes_of, base + size - int(own)))
                 for own, start, bytes_of in zip(self.base, self.start, self.bytes)
                 if size > 0 and int(own) < base + size and int(own) + bytes_of > base]
        return (parts[0][0], parts[-1][1]) if parts else None
