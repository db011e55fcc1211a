# SPDX-License-Identifier: BSD-3-Clause
# Part of the page's snippets: counts by line of a group, in what is in sight. The page sets QUANTITY and SIGHT (None: everything).

def addresses(g):
    return g["virtual_address" if "virtual_address" in g else "address"][:]


def in_sight(g, rows):
    if SIGHT is None:
        return rows
    return rows & np.any([(addresses(g) >= first) & (addresses(g) < last) for first, last in SIGHT], axis=0)


def by_line(g, rows, quantity=None):
    quantity = quantity or QUANTITY
    address, rows = addresses(g), in_sight(g, rows)
    lines, at = np.unique(address[rows], return_inverse=True)
    count = lambda name: np.bincount(at, g[name][:][rows])
    if quantity == "missrate":
        a, m = count("accesses"), count("misses")
        value = np.divide(m, a, out=np.zeros_like(m), where=a > 0)
    else:
        value = count(quantity)
    return dict(zip(lines.tolist(), value.tolist()))


def in_phases(g, phases):
    return np.ones(len(g["phase"]), bool) if phases is None else np.isin(g["phase"][:], phases)
