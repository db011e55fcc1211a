# SPDX-License-Identifier: BSD-3-Clause
"""Traces of other tools, written here by struct alone (docs/formats-of-others.md), read by the program.

Usage: foreign_traces.py PROGRAM
"""
import bz2
import gzip
import json
import lzma
import os
import random
import struct
import subprocess
import sys
import tempfile
import zipfile

program = sys.argv[1]
os.chdir(tempfile.mkdtemp())
rng = random.Random(7)


def run(*arguments, fails=False):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)
    assert (done.returncode != 0) == fails, (arguments, done.stdout, done.stderr)
    return done.stderr if fails else done.stdout


def write(name, data):
    with open(name, "wb") as file:
        file.write(data)
    return name


def check(name, references, format, *options):
    """The program finds the references (kind, address, size) in the file."""
    info = json.loads(run("trace", "info", name, "--json", *options))
    assert info["format"] == format, (name, info)
    for kind, field in (("l", "loads"), ("s", "stores"), ("f", "fetches")):
        assert info[field] == sum(r[0] == kind for r in references), (name, field, info)
    assert info["addresses"]["lowest"] == min(r[1] for r in references), info
    assert info["addresses"]["highest"] == max(r[1] + r[2] - 1 for r in references), info
    if info["cores"] == 1:
        run("trace", "export", name, "-o", "read.din", "--to", "din", "--force", *options)
        assert read_din("read.din") == references, name
    assert info["lines"] == len({line for r in references for line in range(r[1] // 64, (r[1] + r[2] - 1) // 64 + 1)})


def address():
    return rng.randrange(0x10000, 1 << 30)


class Fetches:
    """A fetch of a byte where the program counter leaves a block of 16 bytes."""

    def __init__(self):
        self.block = None

    def of(self, pc):
        if pc // 16 == self.block:
            return []
        self.block = pc // 16
        return [("f", pc, 1)]


def program_counters(count):
    pc = 0x400000
    for _ in range(count):
        pc = rng.randrange(0x400000, 0x500000, 4) if rng.random() < 0.1 else pc + 4
        yield pc


def champsim(layout, stores, count=3000):
    data, references, fetches = b"", [], Fetches()
    for pc in program_counters(count):
        read = [address() if rng.random() < 0.3 else 0 for _ in range(4)]
        written = [address() if rng.random() < 0.2 else 0 for _ in range(stores)]
        references += fetches.of(pc) + [("l", a, 1) for a in read if a] + [("s", a, 1) for a in written if a]
        registers = [rng.randrange(1, 65) for _ in range(stores + 4)]
        branch = rng.randrange(2)
        space = [1, 1] if stores == 4 else []
        data += struct.pack(layout, pc, branch, branch and rng.randrange(2), *registers, *written, *read, *space)
    return data, references


def test_champsim():
    for name, layout, stores in (("champsim", "<QBB2B4B2Q4Q", 2), ("cloudsuite", "<QBB4B4B6x4Q4Q2B6x", 4)):
        data, references = champsim(layout, stores)
        check(write("t", data), references, name)
        data_only = [r for r in references if r[0] != "f"]
        check("t", data_only, name, "--data-only")
        check(write("t.xz", lzma.compress(data)), references, name)
        check(write("t.gz", gzip.compress(data)), references, name)
        check(write("t.bz2", bz2.compress(data)), references, name)
        with zipfile.ZipFile("t.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("1", data[:100000])
            archive.writestr("2", data[100000:])
        check("t.zip", references, name)
        message = run("trace", "info", write("cut.xz", lzma.compress(data[:-1])), "--format", name, fails=True)
        assert "ends within a record" in message, message


def drmemtrace(layout, threads, count=4000):
    """Bytes, and the references of each thread."""
    data = struct.pack(layout, 25, 0, 7) + struct.pack(layout, 28, 12, 7)
    of_thread = {}
    for _ in range(threads * 4):
        thread = rng.randrange(1, threads + 1)
        references = of_thread.setdefault(thread, [])
        data += struct.pack(layout, 22, 4, thread) + struct.pack(layout, 24, 4, 1)
        for pc in program_counters(count // (threads * 4)):
            size = rng.randrange(1, 15)
            data += struct.pack(layout, rng.choice([10, 11, 12, 13, 14, 15, 16, 31, 48, 49]), size, pc)
            references.append(("f", pc, size))
            for kind, name in ((0, "l"), (1, "s"), (28, None), (6, None), (47, None)):
                if rng.random() < 0.3:
                    size = rng.choice([1, 2, 4, 8, 16, 32, 64])
                    place = address()
                    data += struct.pack(layout, kind, size, place)
                    references += [(name, place, size)] if name else []
    return data + struct.pack(layout, 26, 0, 0), of_thread


def test_drmemtrace():
    for layout in ("<HHQ", "<HH4xQ", "<HHI"):
        for threads in (1, 3):
            data, of_thread = drmemtrace(layout, threads)
            references = [r for each in of_thread.values() for r in each]
            check(write("t", data), references, "drmemtrace")
            check(write("t.gz", gzip.compress(data)), references, "drmemtrace")
            with zipfile.ZipFile("t.zip", "w", zipfile.ZIP_DEFLATED) as archive:
                for i in range(0, len(data), 30011):
                    archive.writestr(f"chunk.{i:09}", data[i : i + 30011])
            check("t.zip", references, "drmemtrace")
            assert json.loads(run("trace", "info", "t.zip", "--json"))["cores"] == len(of_thread)


def varint(value):
    data = b""
    while value >= 0x80:
        data += bytes([value & 0x7F | 0x80])
        value >>= 7
    return data + bytes([value])


def message(*fields):
    """Of (number, value): a number or bytes."""
    data = b""
    for number, value in fields:
        counted = isinstance(value, bytes)
        data += varint(number * 8 + 2 * counted) + (varint(len(value)) + value if counted else varint(value))
    return varint(len(data)) + data


def test_gem5():
    data, references = b"gem5" + message((1, b"system.monitor"), (3, 10**12), (4, b"\x08\x07")), []
    for tick in range(3000):
        command = rng.choice([1, 1, 4, 2, 5, 7, 33])
        flags = rng.choice([0, 0x100, 0x20])
        place, size = rng.randrange(1 << 40), rng.choice([1, 4, 8, 64])
        extra = [(6, tick), (7, 0x400000)] if rng.random() < 0.5 else []
        data += message((1, tick * 500), (2, command), (3, place), (4, size), (5, flags), *extra)
        kind = {1: "f" if flags == 0x100 else "l", 4: "s"}.get(command)
        references += [(kind, place, size)] if kind else []
    check(write("t", data), references, "gem5")
    check(write("t.gz", gzip.compress(data)), references, "gem5")


def test_cvp():
    data, references, fetches = b"", [], Fetches()
    for pc in program_counters(3000):
        kind = rng.randrange(9)
        data += struct.pack("<QB", pc, kind)
        references += fetches.of(pc)
        if kind in (1, 2):
            place, size = address(), rng.choice([1, 2, 4, 8, 16])
            data += struct.pack("<QB", place, size)
            references.append(("l" if kind == 1 else "s", place, size))
        if kind in (3, 4, 5):
            taken = rng.randrange(2)
            data += struct.pack("<BQ", 1, address()) if taken else b"\0"
        read = [rng.randrange(65) for _ in range(rng.randrange(4))]
        written = [rng.randrange(65) for _ in range(rng.randrange(3))]
        data += bytes([len(read), *read, len(written), *written])
        for register in written:
            data += rng.randbytes(16 if 32 <= register < 64 else 8)
    check(write("t", data), references, "cvp")
    check(write("t.gz", gzip.compress(data)), references, "cvp")


def read_din(name):
    kinds = {"0": "l", "1": "s", "2": "f"}
    with open(name) as file:
        words = [line.split() for line in file]
    return [(kinds[kind], int(address, 16), int(size)) for kind, address, size in words]


def read_champsim(name):
    """Program counters with the lines that are read and written, in order."""
    with open(name, "rb") as file:
        records = list(struct.iter_unpack("<QBB2B4B2Q4Q", file.read()))
    read = []
    for pc, *parts in records:
        assert not any(parts[:8]), parts
        stores, loads = parts[8:10], parts[10:]
        read += [("l", a // 64, pc) for a in loads if a] + [("s", a // 64, pc) for a in stores if a]
    return read


def read_drmemtrace(name):
    """References by thread."""
    with open(name, "rb") as file:
        records = list(struct.iter_unpack("<HHQ", file.read()))
    assert [r[0] for r in records[:3]] == [25, 28, 28] and records[-1][0] == 26
    of_thread, thread, exits = {}, None, []
    for kind, size, value in records[3:-1]:
        if kind == 22:
            thread = value
        elif kind == 23:
            exits.append(value)
        elif kind in (0, 1, 10):
            of_thread.setdefault(thread, []).append(({0: "l", 1: "s", 10: "f"}[kind], value, size))
        else:
            assert kind == 24
    assert sorted(exits) == sorted(of_thread)
    return of_thread


def test_export():
    references = []
    for pc in program_counters(2000):
        references.append(("f", pc, 4))
        references += [(rng.choice("ls"), address(), rng.choice([1, 4, 8, 64, 200])) for _ in range(rng.randrange(8))]
    with open("t.din", "w") as file:
        file.writelines(f"{'lsf'.index(k)} {a:x} {n}\n" for k, a, n in references)
    for name in ("din", "champsim", "drmemtrace"):
        run("trace", "export", "t.din", "-o", f"out.{name}", "--to", name)
        run("trace", "export", "t.din", "-o", f"out.{name}", "--to", name, fails=True)
        assert not os.path.exists(f"out.{name}.part")
    assert read_din("out.din") == references
    assert read_drmemtrace("out.drmemtrace") == {1: references}
    expected, pc = [], 1
    for kind, place, size in references:
        pc = place if kind == "f" else pc
        expected += [(kind, line, pc) for line in range(place // 64, (place + size - 1) // 64 + 1) if kind != "f"]
    assert read_champsim("out.champsim") == expected
    # What was exported is read, and says the same once more.
    for name in ("din", "champsim", "drmemtrace"):
        run("trace", "export", f"out.{name}", "-o", "again.din", "--to", "din", "--force")
        again = read_din("again.din")
        if name == "champsim":
            assert [(k, a // 64) for k, a, _ in again if k != "f"] == [(k, line) for k, line, _ in expected]
        else:
            assert again == references, name


def test_export_of_threads():
    kernel = ("radix", "keys=4096", "processors=3")
    run("trace", "export", *kernel, "-o", "radix.drmemtrace", "--to", "drmemtrace")
    of_thread = read_drmemtrace("radix.drmemtrace")
    assert sorted(of_thread) == [1, 2, 3]
    for core in range(3):
        run("trace", "export", *kernel, "-o", "one.din", "--to", "din", "--core", str(core), "--force")
        assert read_din("one.din") == of_thread[core + 1]
        run("trace", "export", "radix.drmemtrace", "-o", "again.din", "--to", "din", "--core", str(core), "--force")
        assert read_din("again.din") == of_thread[core + 1]
    for name in ("din", "champsim"):
        assert "name the stream" in run("trace", "export", *kernel, "-o", "x", "--to", name, fails=True)
    assert "numbered from 0" in run("trace", "export", *kernel, "-o", "x", "--to", "din", "--core", "3", fails=True)
    assert not os.path.exists("x")


def test_requests():
    """A stream of stores that a small cache writes back, as worked out by hand."""
    machine = """
name: m
cores: 1
clock: 1 GHz
caches:
  - {name: L1, size: 128, ways: 1, line: 64, latency: 1, next: memory}
memory: {latency: 100}
"""
    write("m.yaml", machine.encode())
    write("t.din", b"0 1000 4\n1 1004 4\n0 1040 4\n1 1080 4\n0 1080 4\n1 1000 4\n")
    options = ("--link", "L1-memory", "-m", "m.yaml", "--force")
    lines = {}
    for name in ("ramulator2", "dramsim3"):
        written = json.loads(run("trace", "export", "t.din", "-o", "out", "--to", name, "--json", *options))
        assert written["reads"] == 4 and written["writes"] == 2, written
        with open("out") as file:
            lines[name] = file.read().splitlines()
    requests = [("R", 0x1000), ("R", 0x1040), ("R", 0x1080), ("W", 0x1000), ("R", 0x1000), ("W", 0x1080)]
    assert lines["ramulator2"] == [f"{'LD' if k == 'R' else 'ST'} {a:#x}" for k, a in requests], lines
    parts = [line.split() for line in lines["dramsim3"]]
    assert [p[:2] for p in parts] == [[f"{a:#x}", "READ" if k == "R" else "WRITE"] for k, a in requests], parts
    cycles = [int(p[2]) for p in parts]
    assert cycles == sorted(cycles) and cycles[0] < 100 <= cycles[1] < 300, cycles
    run("trace", "export", "t.din", "-o", "out", "--to", "dramsim3", "--mhz", "500", *options)
    with open("out") as file:
        assert [int(line.split()[2]) for line in file] == [c // 2 for c in cycles]
    assert "name it" in run("trace", "export", "t.din", "-o", "x", "--to", "dramsim3", fails=True)
    assert "--link is for" in run("trace", "export", "t.din", "-o", "x", "--to", "din", "--link", "a", fails=True)


def test_threads_in_files():
    """A file for each thread, one behind the other, is a file of several threads."""
    layout, files, lengths = "<HHQ", [], []
    for thread in (11, 12):
        records = [(25, 0, 7), (28, 12, 7), (22, 4, thread), (24, 4, 1)]
        records += [(0, 8, 4096 * thread + 8 * i) for i in range(thread * 100)] + [(23, 4, thread), (26, 0, 0)]
        files.append(b"".join(struct.pack(layout, *r) for r in records))
        lengths.append(thread * 100)
    for data in (b"".join(files), b"".join(gzip.compress(f) for f in files)):
        write("t", data)
        for core, length in enumerate(lengths):
            run("trace", "export", "t", "-o", "one.din", "--to", "din", "--core", str(core), "--force")
            assert len(read_din("one.din")) == length


def test_damage():
    """Archives that are cut or changed anywhere are read as far as they go, or refused; nothing crashes or hangs."""
    data, _ = champsim("<QBB2B4B2Q4Q", 2, 100)
    with zipfile.ZipFile("t.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("1", data[:3000])
        archive.writestr("2", data[3000:])
    with open("t.zip", "rb") as file:
        whole = file.read()
    for packed in (whole, gzip.compress(data), lzma.compress(data)):
        for _ in range(12):
            place = rng.randrange(len(packed))
            for bad in (packed[:place], packed[:place] + rng.randbytes(4) + packed[place + 4 :]):
                write("bad", bad)
                done = subprocess.run([program, "trace", "info", "bad"], capture_output=True, text=True, timeout=60)
                assert done.returncode in (0, 1) and (done.returncode == 0 or "bad" in done.stderr), done


test_threads_in_files()
test_damage()
test_export()
test_export_of_threads()
test_requests()
test_champsim()
test_cvp()
test_gem5()
test_drmemtrace()
