#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A slow reader of the capture ring that shares no code with the program: runs a program under the capture tool and
writes what it did as text.

  ring_reader.py TOOL_FOLDER [--tool OPTION]... OUT PROGRAM [ARGUMENT]...

Lines of OUT: "I ADDRESS,SIZE", "L ADDRESS,SIZE", "S ADDRESS,SIZE" in program order, with every instruction fetched;
"#KIND NUMBER..." for controls. Exit status: that of the program.
"""
import mmap
import os
import select
import struct
import subprocess
import sys

HEADER, CHUNK, MOST_CHUNKS, CHUNKS = 65536, 256 * 1024, 512, 16
MAGIC = 0x31474E4952544343
FREE, FILLING, FULL = 0, 1, 2
# offsets in the header
READER_GONE, ENDED, DATA, RUNS, BASE, OPEN_CHUNK, OPEN = 32, 36, 64, 72, 80, 88, 92
PUBLISHED, CONSUMED, ORDER = 132, 192, 256
STATES = ORDER + 4 * MOST_CHUNKS
BLOCK, THREAD = 1, 2


class Ring:
    def __init__(self):
        self.descriptor = os.memfd_create("ring")
        os.ftruncate(self.descriptor, HEADER + CHUNKS * CHUNK)
        self.memory = mmap.mmap(self.descriptor, HEADER + CHUNKS * CHUNK)
        self.memory[:32] = struct.pack("<QIIIIII", MAGIC, 1, CHUNK, CHUNKS, HEADER, os.getpid(), 0)
        self.path = f"/proc/{os.getpid()}/fd/{self.descriptor}"
        self.taken = 0

    def word32(self, offset):
        return struct.unpack_from("<I", self.memory, offset)[0]

    def word64(self, offset):
        return struct.unpack_from("<Q", self.memory, offset)[0]

    def words(self, chunk, data, runs):
        begin = HEADER + chunk * CHUNK
        end = begin + CHUNK
        return (struct.unpack_from(f"<{data}Q", self.memory, begin),
                struct.unpack_from(f"<{runs}Q", self.memory, end - 8 * runs)[::-1])

    def next(self):
        """The next full chunk as two tuples in program order, or nothing."""
        if self.word32(PUBLISHED) == self.taken:
            return None
        chunk = self.word32(ORDER + 4 * (self.taken % MOST_CHUNKS))
        state, _, data, runs = struct.unpack_from("<IIII", self.memory, STATES + 16 * chunk)
        assert state == FULL, f"chunk {chunk} is published and not full"
        words = self.words(chunk, data, runs)
        struct.pack_into("<I", self.memory, STATES + 16 * chunk, FREE)
        self.taken += 1
        struct.pack_into("<I", self.memory, CONSUMED, self.taken)
        return words

    def left_open(self):
        """What a killed program left."""
        if self.word32(OPEN) != 1:
            return None
        chunk = self.word32(OPEN_CHUNK)
        begin = self.word64(BASE) + HEADER + chunk * CHUNK
        return self.words(chunk, (self.word64(DATA) - begin) // 8, (begin + CHUNK - self.word64(RUNS)) // 8)


class Writer:
    def __init__(self, out):
        self.out, self.exits = out, {}

    def define(self, words):
        first, exits = words[1] & 0xFFFFFFFF, words[1] >> 32
        instructions, data = words[2] & 0xFFFFFFFF, words[2] >> 32
        rest = words[3:]
        assert len(rest) == instructions + data + exits
        for i in range(exits):
            until = rest[instructions + data + i]
            self.exits[first + i] = (rest[:until >> 32], rest[instructions:instructions + (until & 0xFFFFFFFF)])

    def run(self, exit, data):
        instructions, described = self.exits[exit]
        next_word, lines = 0, []
        for number, instruction in enumerate(instructions):
            lines.append(f"I {instruction & (1 << 56) - 1:x},{instruction >> 56}")
            while next_word < len(described) and described[next_word] & 0xFFFF == number:
                word = data[next_word]
                if word != (1 << 64) - 1:
                    kind, size = "S" if word >> 57 & 1 else "L", (word >> 48 & 0x1FF) + 1
                    assert (kind == "S") == bool(described[next_word] >> 32) and size == described[next_word] >> 16 & 0xFFFF
                    lines.append(f"{kind} {word & (1 << 47) - 1:x},{size}")
                next_word += 1
        assert next_word == len(described)
        self.out.write("\n".join(lines) + "\n")
        return next_word

    def chunk(self, data, runs):
        at = place = 0
        while place < len(runs):
            run = runs[place]
            place += 1
            if run >> 62 == 1:
                kind, count = run & 0xFFFF, run >> 16 & 0xFFFFFFFF
                words = runs[place:place + count]
                place += count
                if kind == BLOCK:
                    self.define(words)
                else:
                    self.out.write(f"#{kind} {' '.join(format(word, 'x') for word in words)}\n")
            else:
                assert run >> 62 == 0
                at += self.run(run, data[at:])


def main():
    folder, arguments, tool = sys.argv[1], sys.argv[2:], []
    while arguments[0] == "--tool":
        tool.append(arguments[1])
        del arguments[:2]
    out, program = arguments[0], arguments[1:]
    ring = Ring()
    environment = {"VALGRIND_LIB": folder, "VALGRIND_LAUNCHER": "/usr/bin/valgrind"}  # and nothing else: a fixed stack
    command = [folder + "/cachetally-amd64-linux", "--tool=cachetally", "-q", "--ring=" + ring.path, *tool, *program]
    process = subprocess.Popen(command, env=environment)
    ended = select.poll()
    ended.register(os.pidfd_open(process.pid), select.POLLIN)
    with open(out, "w", encoding="ascii") as file:
        writer = Writer(file)
        while True:
            chunk = ring.next()
            if chunk:
                writer.chunk(*chunk)
            elif ended.poll(2):
                chunk = ring.next() or ring.left_open()
                if not chunk:
                    break
                writer.chunk(*chunk)
                if ring.word32(OPEN) == 1 and ring.word32(PUBLISHED) == ring.taken:
                    break
    sys.exit(process.wait() & 0xFF)


if __name__ == "__main__":
    main()
