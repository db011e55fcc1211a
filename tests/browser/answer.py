#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a run's page must answer first, worked out from the file with h5py alone (docs/format.md). Prints JSON.
Usage: answer.py FILE.h5 LEVEL"""
import json
import sys

import h5py
import numpy as np

CAUSES = ["first_use", "invalidated", "capacity", "conflict"]


def best(names, counts):
    """The first of the largest, and the sum of all."""
    counts = np.asarray(counts, float)
    if len(counts) == 0 or counts.max() == 0:
        return None
    i = int(np.argmax(counts))
    return [str(names[i]), float(counts[i]), float(counts.sum())]


def main():
    f, level = h5py.File(sys.argv[1], "r"), sys.argv[2]
    counters = f["levels"][level]
    total = lambda *names: sum(int(counters[n].attrs["total"]) for n in names if n in counters)
    answer = {
        "accesses": total("loads", "stores", "fetches"),
        "misses": total("load_misses", "store_misses", "fetch_misses"),
    }
    phases = [f"phase {i} ({name})" if name and name != f"phase {i}" else f"phase {i}" for i, name in enumerate(f["phases/name"].asstr()[:])]
    if "attribution" in f:
        rows = f["attribution/rows"]
        site = rows["site"][:]
        names = f["attribution/objects"].asstr()[:].astype(object)
        names[0] = "(code)"
        of = names[f["attribution/sites/object"][:][site]]
        misses, phase = rows[f"misses_{level}"][:], rows["phase"][:]
        causes = {c: rows[f"{c}_{level}"][:] for c in CAUSES} if f"conflict_{level}" in rows else None
        cause_of, cause_phase, evictions, all_names = of, phase, f.get(f"attribution/evictions/{level}/pairs"), names
    else:
        rows = f[f"structures/levels/{level}/phases"]
        all_names = f["structures/name"].asstr()[:].astype(object)
        of, misses, phase = all_names[rows["structure"][:]], rows["misses"][:], rows["phase"][:]
        table = f.get(f"causes/{level}/misses")
        causes = {c: table[c][:] for c in CAUSES} if table else None
        cause_of = all_names[table["structure"][:]] if table else None
        cause_phase = table["phase"][:] if table else None
        evictions = f.get(f"causes/{level}/evictions")
    order = list(dict.fromkeys(all_names))
    answer["structure"] = best(order, [misses[of == n].sum() for n in order])
    worst = answer["structure"][0]
    answer["cause"] = causes and best([c.replace("_", " ") for c in CAUSES], [causes[c][cause_of == worst].sum() for c in CAUSES])
    if answer["cause"]:  # phases of the misses of that cause
        of, misses, phase = cause_of, causes[answer["cause"][0].replace(" ", "_")], cause_phase
    by_phase = np.bincount(phase[of == worst], misses[of == worst], minlength=len(phases))
    answer["phase"] = best(phases, by_phase)
    stands_out = by_phase.max() >= 1.25 * by_phase.mean()
    answer["phases"] = [int(i) for i in np.flatnonzero(by_phase >= (0.9 * by_phase.max() if stands_out else 0))]
    if len(phases) > 1:  # what the sentence ends with: of many the first eight, and names once for those in a row, alone where they come again
        shown, rest = answer["phases"][:8], len(answer["phases"]) - 8
        name = lambda i: phases[i].partition(" (")[1:] if 0 <= i < len(phases) else None
        words = [str(i) if name(i) == name(after) else str(i) + "".join(name(i)) for i, after in zip(shown, shown[1:] + [-1])]
        how = "all" if (by_phase > 0).sum() == 1 else "worst"
        kinds = list(dict.fromkeys(name(i)[1][:-1] if name(i)[1] else "" for i in answer["phases"]))
        several = f"phase{'s' * (len(shown) > 1)} {', '.join(words)}{f' and {rest} more' if rest > 0 else ''}"
        in_a_row = [name(i) for i, after in zip(answer["phases"], answer["phases"][1:] + [-1]) if name(i) != name(after)]
        if (rest > 0 or len(in_a_row) > len(kinds)) and len(kinds) <= 4 and "" not in kinds:
            several = f"{len(answer['phases'])} phases ({('; ' if ',' in ''.join(kinds) else ', ').join(kinds)})"
        answer["when"] = "; no phase stands out." if not stands_out else f", {how} in {several}."
    answer["evictor"] = None
    if evictions is not None:
        by, victim = all_names[evictions["by"][:]], all_names[evictions["victim"][:]]
        answer["evictor"] = best(order, [evictions["count"][:][(victim == worst) & (by == n)].sum() for n in order])
    print(json.dumps(answer))


main()
