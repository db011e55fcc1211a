# SPDX-License-Identifier: BSD-3-Clause
# Part of the page's snippets: counts by line of a group, in what is in sight. The page sets QUANTITY and SIGHT (None: everything).

def by_line(g, rows):
    address = g["virtual_address" if "virtual_address" in g else "address"][:]
    if SIGHT is not None:
        rows = rows & np.any([(address >= first) & (address < last) for first, last in SIGHT], axis=0)
    lines, at = np.unique(address[rows], return_inverse=True)
    count = lambda name: np.bincount(at, g[name][:][rows])
    if QUANTITY == "missrate":
        a, m = count("accesses"), count("misses")
        value = np.divide(m, a, out=np.zeros_like(m), where=a > 0)
    else:
        value = count(QUANTITY)
    return dict(zip(lines.tolist(), value.tolist()))


def in_phases(g, phases):
    return np.ones(len(g["phase"]), bool) if phases is None else np.isin(g["phase"][:], phases)
