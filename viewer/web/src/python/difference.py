# SPDX-License-Identifier: BSD-3-Clause
# The second part less the first, by line: two choices of phases, or two files. PLACES: where data structures begin and end in both, where they
# lie elsewhere in the second; None: addresses mean the same.

def part(which, quantity=None):
    name, path, phases = PARTS[which]
    g = h5py.File(name, "r")[path]
    value = by_line(g, in_phases(g, phases), quantity)
    if PLACES is None:
        return value
    return {(i, line - place[which][0]): n for line, n in value.items() for i, place in enumerate(PLACES) if place[which][0] <= line < place[which][1]}


def total(which):
    if QUANTITY != "missrate":
        return sum(part(which).values())
    misses, accesses = (sum(part(which, each).values()) for each in ("misses", "accesses"))
    return misses / accesses if accesses else 0


a, b = part(0), part(1)
difference = {key: b.get(key, 0) - a.get(key, 0) for key in sorted(a.keys() | b.keys())}
print("rates" if QUANTITY == "missrate" else "sums", total(0), total(1), "difference", total(1) - total(0))
for key in sorted(difference, key=lambda key: -abs(difference[key]))[:5]:
    address = key if PLACES is None else PLACES[key[0]][0][0] + key[1]
    print("  ", hex(address), difference[key])
