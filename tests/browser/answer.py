#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a run's page must answer first, worked out from the file with h5py alone (docs/format.md). Prints JSON.
Usage: answer.py FILE.h5 LEVEL [PHASE,PHASE,... [FIRST END]]
FIRST END: of the lines from FIRST to before END alone."""
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


def in_words(numbers, phases=None):
    """Of many runs of neighbours the first eight, and names once for those in a row; without names where there are no phases."""
    name = lambda i: (phases[i].partition(" (")[1:] if 0 <= i < len(phases) else None) if phases else ("", "")
    ranges = lambda runs: ", ".join(f"{r[0]}-{r[-1]}" if len(r) > 2 else ", ".join(map(str, r)) for r in runs)
    runs, whole = [], []  # of one name; of any
    for i in numbers:
        for found, goes_on in ((runs, lambda last: name(i) == name(last)), (whole, lambda last: True)):
            if found and found[-1][-1] == i - 1 and goes_on(i - 1):
                found[-1].append(i)
            else:
                found.append([i])
    kinds = list(dict.fromkeys(name(i)[1][:-1] for i in numbers))
    changes = sum(name(i) != name(after) for i, after in zip(numbers, numbers[1:])) + 1
    if (len(runs) > 8 or changes > len(kinds)) and len(kinds) <= 4 and "" not in kinds:
        return f"{f'phases {ranges(whole)}' if len(whole) <= 4 else f'{len(numbers)} phases'} ({'; '.join(kinds)})"
    shown, rest = runs[:8], sum(map(len, runs[8:]))
    words = [ranges([r]) + ("" if after and name(r[-1]) == name(after[0]) else "".join(name(r[-1]))) for r, after in zip(shown, shown[1:] + [None])]
    return f"phase{'s' if len(numbers) > 1 else ''} {', '.join(words)}{f' and {rest} more' if rest else ''}"


def main():
    f, level = h5py.File(sys.argv[1], "r"), sys.argv[2]
    counters = f["levels"][level]
    chosen = [int(i) for i in sys.argv[3].split(",")] if len(sys.argv) > 3 else range(len(f["phases/name"]))
    total = lambda *names: sum(int(counters[n][:][list(chosen)].sum()) for n in names if n in counters)
    in_chosen = lambda values, phase: np.where(np.isin(phase, list(chosen)), values, 0)
    answer = {
        "accesses": total("loads", "stores", "fetches"),
        "misses": total("load_misses", "store_misses", "fetch_misses"),
    }
    phases = [f"phase {i} ({name})" if name and name != f"phase {i}" else f"phase {i}" for i, name in enumerate(f["phases/name"].asstr()[:])]
    if len(sys.argv) > 4:
        rows, structures = f["combined"][level], f["structures"]
        at, all_names = rows["address"][:], structures["name"].asstr()[:].astype(object)
        own = (at >= int(sys.argv[4])) & (at < int(sys.argv[5]))
        of = np.full(len(at), "(elsewhere)", object)
        for name, base, size in list(zip(all_names, structures["base"][:], structures["bytes"][:]))[::-1]:
            of[(at >= base) & (at < base + size)] = name
        misses, accesses = (np.where(own, rows[column][:], 0) for column in ("misses", "accesses"))
        causes = {c: np.where(own, rows[c][:], 0) for c in CAUSES}
        phase = cause_phase = rows["phase"][:]
        cause_of, evictions = of, None
    elif "attribution" in f:
        rows = f["attribution/rows"]
        site = rows["site"][:]
        names = f["attribution/objects"].asstr()[:].astype(object)
        names[0] = "(code)"
        of = names[f["attribution/sites/object"][:][site]]
        misses, phase, accesses = rows[f"misses_{level}"][:], rows["phase"][:], rows["accesses"][:]
        causes = {c: rows[f"{c}_{level}"][:] for c in CAUSES} if f"conflict_{level}" in rows else None
        cause_of, cause_phase, evictions, all_names = of, phase, f.get(f"attribution/evictions/{level}/pairs"), names
    else:
        rows = f[f"structures/levels/{level}/phases"]
        all_names = f["structures/name"].asstr()[:].astype(object)
        of, misses, phase, accesses = all_names[rows["structure"][:]], rows["misses"][:], rows["phase"][:], rows["accesses"][:]
        table = f.get(f"causes/{level}/misses")
        causes = {c: table[c][:] for c in CAUSES} if table else None
        cause_of = all_names[table["structure"][:]] if table else None
        cause_phase = table["phase"][:] if table else None
        evictions = f.get(f"causes/{level}/evictions")
    misses, accesses = in_chosen(misses, phase), in_chosen(accesses, phase)
    causes = causes and {c: in_chosen(values, cause_phase) for c, values in causes.items()}
    order = list(dict.fromkeys(all_names))
    answer["structure"] = best(order, [misses[of == n].sum() for n in order])
    worst = answer["structure"][0]
    answer["cause"] = causes and best([c.replace("_", " ") for c in CAUSES], [causes[c][cause_of == worst].sum() for c in CAUSES])
    by_phase = np.bincount(phase[of == worst], misses[of == worst], minlength=len(phases))
    used = np.bincount(phase[of == worst], accesses[of == worst], minlength=len(phases))
    among = [i for i in chosen if used[list(chosen)].sum() == 0 or used[i] > 0 or by_phase[i] > 0]
    steps = {}  # phases of one name, which count together, but where there is only one name
    for i in among:
        steps.setdefault(phases[i].partition(" (")[2] or i, []).append(i)
    steps = list(steps.values()) if len(steps) > 1 else [[i] for i in among]
    by_step = np.array([by_phase[step].sum() for step in steps])
    used_by_step = np.array([used[step].sum() for step in steps])
    dense = np.where(by_step * used_by_step.sum() >= 0.9 * by_step.sum() * used_by_step, by_step, 0)
    tried = [counts for counts in (dense, by_step) if counts.max() * len(steps) >= 1.25 * by_step.sum()]
    stands_out = len(tried) > 0
    both = stands_out and tried[0].max() < by_step.max()
    higher = both and by_step.max() > 0.5 * by_step.sum()
    if higher:
        tried = [by_step]
    alike = [i for step, count in zip(steps, tried[0]) for i in step if count >= 0.9 * tried[0].max()] if stands_out else list(among)
    large = lambda some: sorted([i for i in some if by_phase[i] * len(among) >= by_step.sum()] or some)
    answer["phases"] = large(alike) if stands_out else sorted(alike)
    all_there = not stands_out and 2 * len(among) <= len(chosen)  # none of those with accesses stands out
    other = dense if higher else by_step
    others = large([i for step, count in zip(steps, other) for i in step if count >= 0.9 * other.max()]) if both else []
    answer["inPhases"], answer["ofPhases"] = float(by_phase[answer["phases"]].sum()), float(by_step.sum())
    of_these = by_phase[answer["phases"]]
    most = [i for i in answer["phases"] if stands_out and len(of_these) > 1 and of_these.max() >= 1.25 * of_these.mean() and by_phase[i] >= 0.9 * of_these.max()]
    most = most if len(most) <= 8 else []
    if len(chosen) > 1:  # what the sentence ends with
        is_all = answer["inPhases"] == answer["ofPhases"]
        text = f", {'all' if is_all else 'worst'} in {in_words(answer['phases'], phases)}"
        words = {"first_use": "are first uses", "invalidated": "come after invalidations", "capacity": "are capacity misses", "conflict": "are conflicts"}

        def where(some):  # the cause in some phases, where it is another
            counts = {c: causes[c][(cause_of == worst) & np.isin(cause_phase, some)].sum() for c in CAUSES} if causes else {}
            there = best(CAUSES, list(counts.values())) if causes else None
            return f", where {100 * there[1] / there[2]:.2f} % of them {words[there[0]]}" if there and there[1] > counts[answer["cause"][0].replace(" ", "_")] else ""

        text += where(answer["phases"])
        if most:
            text += f", most of all in {in_words(most)}"
        if others:
            text += f"; {100 * by_phase[others].sum() / by_phase.sum():.2f} % in {in_words(others, phases)}, at a {'higher' if higher else 'lower'} rate{where(others)}"
        answer["when"] = f"{text}." if stands_out or all_there else "; no phase stands out."
    answer["evictor"] = None
    if evictions is not None:
        by, victim = all_names[evictions["by"][:]], all_names[evictions["victim"][:]]
        answer["evictor"] = best(order, [in_chosen(evictions["count"][:], evictions["phase"][:])[(victim == worst) & (by == n)].sum() for n in order])
    print(json.dumps(answer))


main()
