#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a recorded program misses, why, what evicts what, the cycles that it loses, and the bytes that it uses, against a cache of a few lines here.

  attribution_test.py CACHETALLY PROGRAM [ARGUMENT]...

The packed trace is read as docs/traces.md has it. Exit status 77: the program cannot be recorded here.
"""
import os
import struct
import subprocess
import sys
import tempfile
from collections import Counter, OrderedDict, defaultdict

import h5py

SETS, WAYS, LINE, LATENCY, MEMORY_LATENCY = 16, 2, 64, 3, 50
MACHINE = f"""name: small
caches: [{{name: L1, next: memory, size: {SETS * WAYS * LINE}, ways: {WAYS}, line: {LINE}, latency: {LATENCY}}}]
memory: {{latency: {MEMORY_LATENCY}}}
"""
CAUSES = ("first_use", "capacity", "conflict")


def unpacked(data, size):
    """An LZ4 block."""
    if len(data) == size:
        return data
    out, at = bytearray(), 0

    def length(first):
        nonlocal at
        total, more = first, first == 15
        while more:
            total += data[at]
            more = data[at] == 255
            at += 1
        return total

    while True:
        token = data[at]
        at += 1
        literals = length(token >> 4)
        out += data[at : at + literals]
        at += literals
        if at >= len(data):
            return bytes(out)
        back = data[at] | data[at + 1] << 8
        at += 2
        for _ in range(4 + length(token & 15)):
            out.append(out[-back])


def zigzag(number):
    return number >> 1 ^ -(number & 1)


def block_items(block):
    """References (address, site, size, kind) and controls of a block, in order; a control is its kind."""
    count, kept, delta_bytes, traits, controls, flags = struct.unpack("<6I", block[8:32])
    wide = 2 if flags & 2 else 1
    sizes = (count, kept, delta_bytes, kept * wide, count - kept, (count - kept) * wide, traits * 8 + controls * 12)
    at, streams = 64, []
    for stored, size in zip(struct.unpack("<7I", block[32:60]), sizes):
        streams.append(unpacked(block[at : at + stored], size))
        at += stored
    marks, codes, deltas, kept_traits, offsets, other_traits, tables = streams
    table = [struct.unpack_from("<IHBB", tables, 8 * i)[:3] for i in range(traits)]
    calls = defaultdict(list)
    for i in range(controls):
        place, kind, _ = struct.unpack_from("<3I", tables, 8 * traits + 12 * i)
        calls[place].append(kind)

    def trait(stream, i):
        return table[int.from_bytes(stream[i * wide : (i + 1) * wide], "little")]

    addresses, slots, k, r, d = [0] * 16, {}, 0, 0, 0
    for i in range(count):
        yield from calls[i]
        if marks[i] & 64:
            code = codes[k]
            width = 8 if (code >> 4 & 7) == 7 else code >> 4 & 7
            delta = zigzag(int.from_bytes(deltas[d : d + width], "little"))
            d += width
            address = addresses[-1 - (code & 15)] + delta & (1 << 64) - 1
            addresses.append(address)
            site, size, kind = trait(kept_traits, k)
            k += 1
        else:
            address = slots[marks[i] & 63] + zigzag(offsets[r])
            site, size, kind = trait(other_traits, r)
            r += 1
        slots[address // 64 % 64] = address
        yield address, site, size, kind
    yield from calls[count]


def trace_items(path):
    with h5py.File(path) as file:
        blocks, index = file["trace/blocks"][:].tobytes(), file["trace/index"]
        for offset, size in zip(index["offset"][:], index["bytes"][:]):
            yield from block_items(blocks[int(offset) : int(offset) + int(size)])


class Cache:
    """LRU, beside it a fully associative one of equal size, and what came of them by (phase, site)."""

    def __init__(self, objects):
        self.objects, self.sets, self.full, self.known = objects, [OrderedDict() for _ in range(SETS)], OrderedDict(), set()
        self.accesses, self.causes, self.pairs, self.by_set = Counter(), Counter(), Counter(), Counter()
        self.of_line, self.phase = {}, 0
        self.lost, self.fills, self.used, self.touched = Counter(), Counter(), Counter(), {}

    def leave(self, line):
        site, touched = self.touched.pop(line)
        self.fills[self.phase, site] += 1
        self.used[self.phase, site] += len(touched)

    def access(self, line, site, touched):
        self.accesses[self.phase, site] += 1
        ways = self.sets[line % SETS]
        hit, near = line in ways, line in self.full
        self.full[line] = True
        self.full.move_to_end(line)
        if len(self.full) > SETS * WAYS:
            self.full.popitem(last=False)
        self.of_line[line] = self.objects[site]
        if not hit:
            cause = "first_use" if line not in self.known else "conflict" if near else "capacity"
            self.causes[self.phase, site, cause] += 1
            self.known.add(line)
            self.lost[self.phase, site] += MEMORY_LATENCY
            if len(ways) == WAYS:
                victim = ways.popitem(last=False)[0]
                self.leave(victim)
                pair = self.of_line[line], self.of_line[victim]
                self.pairs[pair + (self.phase,)] += 1
                self.by_set[pair + (line % SETS,)] += 1
            self.touched[line] = site, set()
        self.touched[line][1].update(touched)
        ways[line] = True
        ways.move_to_end(line)


def compare(what, expected, found):
    expected = {key: value for key, value in expected.items() if value}
    found = {key: value for key, value in found.items() if value}
    if expected == found:
        return
    keys = [key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key)]
    first = sorted(keys)[0]
    sys.exit(f"{what}: {len(keys)} differ, {first}: {found.get(first)} instead of {expected.get(first)}")


def expected_of(trace):
    with h5py.File(trace) as file:
        names = file["trace/objects"].asstr()[:]
        objects = [list(names).index(names[i]) for i in file["trace/sites/object"][:]]
    cache = Cache(objects)
    for item in trace_items(trace):
        if not isinstance(item, tuple):
            cache.phase += item == 1
            continue
        address, site, size, _ = item
        for line in range(address // LINE, (address + size - 1) // LINE + 1):
            begin, end = max(address, line * LINE), min(address + size, (line + 1) * LINE)
            cache.access(line, site, range(begin, end))
    for line in list(cache.touched):
        cache.leave(line)
    return cache


def check(result, cache):
    with h5py.File(result) as file:
        rows = {name: data[:] for name, data in file["attribution/rows"].items()}
        keys = list(zip(rows["phase"].tolist(), rows["site"].tolist()))
        compare("accesses", cache.accesses, dict(zip(keys, rows["accesses"].tolist())))
        misses = Counter()
        for (phase, site, _), count in cache.causes.items():
            misses[phase, site] += count
        compare("misses", misses, dict(zip(keys, rows["misses_L1"].tolist())))
        compare("cycles", cache.lost, dict(zip(keys, rows["cycles"].tolist())))
        compare("lines that came", cache.fills, dict(zip(keys, rows["fills"].tolist())))
        compare("bytes used", cache.used, dict(zip(keys, rows["used_bytes"].tolist())))
        check_time(file, cache)
        check_cores(file)
        found = {key + (cause,): count for cause in CAUSES for key, count in zip(keys, rows[f"{cause}_L1"].tolist())}
        compare("causes", cache.causes, found)
        pairs = file["attribution/evictions/L1/pairs"]
        columns = [pairs[name][:].tolist() for name in ("by", "victim", "phase", "count")]
        compare("evictions", cache.pairs, {tuple(row[:3]): row[3] for row in zip(*columns)})
        check_cycles(file["attribution/evictions/L1/cycles"], cache)
    return len(misses), sum(misses.values())


# struct cell of known.c
CELL_BYTES = 32
CELL = ((0, "key"), (8, "range.low"), (10, "range.high"), (12, "flag"), (13, "(padding)"), (16, "weight"), (24, "bits|more"))


def check_fields(trace):
    """The fields of `grid`, by the addresses of its references; how many there are."""
    with h5py.File(trace) as file:
        regions = dict(zip(file["trace/regions/name"].asstr()[:], zip(file["trace/regions/base"][:], file["trace/regions/bytes"][:])))
        fields, of_site = file["trace/fields"].asstr()[:], file["trace/sites/field"][:]
    if "grid" not in regions:
        return 0
    base, size = (int(number) for number in regions["grid"])
    checked = 0
    for item in trace_items(trace):
        if not isinstance(item, tuple) or not base <= item[0] < base + size or item[3] == 2:
            continue
        expected = [name for offset, name in CELL if offset <= (item[0] - base) % CELL_BYTES][-1]
        found = fields[of_site[item[1]]]
        assert found == "cell." + expected, f"{found} instead of cell.{expected}"
        checked += 1
    return checked


def check_blocks(trace, result):
    """Data references to blocks of the result are to their object, or what has no name: the allocator's, memory that is mapped anew."""
    with h5py.File(trace) as file:
        objects = [name.decode() for name in file["trace/objects"][:]]
        of_site = file["trace/sites/object"][:]
    with h5py.File(result) as file:
        if "blocks" not in file["attribution"]:
            return 0
        table = file["attribution/blocks"]
        blocks = list(zip(*(table[each][:].tolist() for each in ("base", "bytes", "object"))))
        assert [objects[number] for *_, number in blocks] == [name.decode() for name in table["name"][:]]
    inside = Counter()
    for item in trace_items(trace):
        if not isinstance(item, tuple) or item[3] == 2:
            continue
        for base, size, number in blocks:
            if base <= item[0] < base + size:
                found = objects[of_site[item[1]]]
                assert found == objects[number] or found.startswith("("), f"{found} in a block of {objects[number]}"
                inside[number] += found == objects[number]
    every = Counter()
    for item in trace_items(trace):
        if isinstance(item, tuple) and item[3] != 2:
            every[of_site[item[1]]] += 1
    assert all(inside[number] == every[number] for _, _, number in blocks), "references outside of an object's blocks"
    return len(blocks)


def check_cores(file):
    """Of one core all counts, level by level."""
    cores = {name: data[:] for name, data in file["cores"].items()}
    level = file["levels/L1"]
    kinds = ("loads", "stores", "fetches")
    assert not cores["core"].any() and not file["attribution/rows/core"][:].any()
    assert cores["accesses"].sum() == sum(level[kind].attrs["total"] for kind in kinds)
    assert cores["misses"].sum() == file["attribution/rows/misses_L1"][:].sum()


def check_time(file, cache):
    """Each access lasts as long as a hit, or that and what is lost."""
    hits = sum(cache.accesses.values()) * LATENCY
    assert file["run"].attrs["cycles"] == hits + int(file["attribution/rows/cycles"][:].sum()), "the time of the run"
    assert file["run"].attrs["hit_cycles"] == file["phases/hit_cycles"][:].sum() == hits, "the time of hits"


def check_cycles(group, cache):
    """Counts of cycles of one and two, and of their sets; and the strongest of them are there."""
    totals = Counter()
    for (by, victim, _), count in cache.by_set.items():
        totals[by, victim] += count
    cycles = defaultdict(list)
    for cycle, member in zip(group["objects/cycle"][:], group["objects/object"][:]):
        cycles[int(cycle)].append(int(member))
    counts = group["count"][:].tolist()
    for cycle, members in cycles.items():
        edges = list(zip(members, members[1:] + members[:1]))
        assert counts[cycle] == min(totals[edge] for edge in edges), f"cycle {members}"
        sets = {s: min(cache.by_set[edge + (s,)] for edge in edges) for s in range(SETS)}
        told = [(int(s), int(n)) for c, s, n in zip(group["sets/cycle"][:], group["sets/set"][:], group["sets/count"][:]) if c == cycle]
        best = sorted(((s, n) for s, n in sets.items() if n), key=lambda each: (-each[1], each[0]))[:8]
        assert told == best, f"sets of {members}: {told} instead of {best}"
    mutual = max((min(n, totals[victim, by]) for (by, victim), n in totals.items()), default=0)
    assert not counts or counts[0] >= mutual, "a stronger cycle is missing"
    assert counts or mutual == 0, "no cycles"


def main():
    program, command = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as directory:
        trace, machine, result = (os.path.join(directory, name) for name in ("t.ct.h5", "small.yaml", "r.h5"))
        recorded = subprocess.run([program, "record", "--fields", "-o", trace, "--", *command], stdout=subprocess.DEVNULL, check=False)
        if recorded.returncode != 0:
            print("skipped: the program cannot be recorded here")
            sys.exit(77)
        with open(machine, "w", encoding="utf-8") as file:
            file.write(MACHINE)
        subprocess.run([program, "replay", trace, "-m", machine, "--monitor", "none", "--causes", "--cycles",
                        "--used-bytes", "--per-core", "-o", result],
                       stdout=subprocess.DEVNULL, check=True)
        fields = check_fields(trace)
        rows, misses = check(result, expected_of(trace))
        blocks = check_blocks(trace, result)
    print(f"{misses} misses in {rows} rows are as expected, with causes, evictions, cycles and bytes used; {fields} references have their fields; {blocks} blocks")


if __name__ == "__main__":
    main()
