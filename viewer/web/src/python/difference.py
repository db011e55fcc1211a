# SPDX-License-Identifier: BSD-3-Clause
# The second part less the first, by line: two choices of phases, or two files. PLACES: where data structures begin and end in both, where they
# lie elsewhere in the second; None: addresses mean the same.

def part(which):
    name, path, phases = PARTS[which]
    g = h5py.File(name, "r")[path]
    value = by_line(g, in_phases(g, phases))
    if PLACES is None:
        return value
    return {(i, line - place[which][0]): n for line, n in value.items() for i, place in enumerate(PLACES) if place[which][0] <= line < place[which][1]}


a, b = part(0), part(1)
difference = {key: b.get(key, 0) - a.get(key, 0) for key in sorted(a.keys() | b.keys())}
print("sums", sum(a.values()), sum(b.values()), "difference", sum(difference.values()))
for key in sorted(difference, key=lambda key: -abs(difference[key]))[:5]:
    address = key if PLACES is None else PLACES[key[0]][0][0] + key[1]
    print("  ", hex(address), difference[key])
