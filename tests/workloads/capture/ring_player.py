#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One run of a program, captured again and again: what threads do differs between two runs.

  ring_player.py save TOOL_FOLDER FILE [OPTION]... -- PROGRAM [ARGUMENT]...   runs it; what the tool writes goes to FILE
  ring_player.py folder FOLDER             makes a folder for CACHETALLY_CAPTURE, whose tool plays $CACHETALLY_PLAYED

FILE: 8 bytes with the program's exit status, then chunks: two 4-byte numbers of words, data words, run words.
"""
import mmap
import os
import select
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from ring_reader import CHUNK, CONSUMED, ENDED, FREE, FULL, HEADER, MOST_CHUNKS, OPEN, ORDER, PUBLISHED, READER_GONE, STATES, Ring  # noqa: E402

TOOL = "cachetally-amd64-linux"
CHUNKS, WRITER, RESERVED = 16, 28, 128  # offsets in the header


class RawRing(Ring):
    def words(self, chunk, data, runs):
        begin, end = HEADER + chunk * CHUNK, HEADER + (chunk + 1) * CHUNK
        return struct.pack("<II", data, runs) + self.memory[begin:begin + 8 * data] + self.memory[end - 8 * runs:end]


def save(folder, path, arguments):
    end = arguments.index("--")
    ring = RawRing()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("VALGRIND_")}
    environment.update(VALGRIND_LIB=os.path.realpath(folder), VALGRIND_LAUNCHER="/usr/bin/valgrind")
    process = subprocess.Popen([f"{folder}/{TOOL}", "--ring=" + ring.path, "--tool=cachetally", "-q", "--vgdb=no",
                                "--heap=yes", *arguments[:end], *arguments[end + 1:]], env=environment)
    ended = select.poll()
    ended.register(os.pidfd_open(process.pid), select.POLLIN)
    with open(path, "wb") as file:
        file.write(bytes(8))
        while True:
            is_over = bool(ended.poll(0))
            chunk = ring.next()
            if chunk:
                file.write(chunk)
            elif is_over:
                break
            else:
                time.sleep(0.001)
        if ring.word32(OPEN) == 1:
            file.write(ring.left_open())
        status = process.wait()
        file.seek(0)
        file.write(struct.pack("<q", status))
    return status


def play(ring_path, path):
    with open(ring_path, "r+b") as file:
        memory = mmap.mmap(file.fileno(), 0)
    word = lambda offset: struct.unpack_from("<I", memory, offset)[0]
    put = lambda offset, *values: struct.pack_into(f"<{len(values)}I", memory, offset, *values)
    put(WRITER, os.getpid())
    chunks, number = word(CHUNKS), 0
    with open(path, "rb") as file:
        status = struct.unpack("<q", file.read(8))[0]
        while head := file.read(8):
            data, runs = struct.unpack("<II", head)
            chunk = number % chunks
            while word(STATES + 16 * chunk) != FREE:
                if word(READER_GONE):
                    return status
                time.sleep(0.0002)
            begin, end = HEADER + chunk * CHUNK, HEADER + (chunk + 1) * CHUNK
            memory[begin:begin + 8 * data] = file.read(8 * data)
            memory[end - 8 * runs:end] = file.read(8 * runs)
            put(STATES + 16 * chunk, FULL, 0, data, runs)
            put(ORDER + 4 * (number % MOST_CHUNKS), chunk)
            number += 1
            put(RESERVED, number)
            put(PUBLISHED, number)
    put(ENDED, 1)
    return status


def make_folder(folder):
    os.makedirs(folder, exist_ok=True)
    if not os.path.lexists(f"{folder}/{TOOL}"):
        os.symlink(os.path.realpath(__file__), f"{folder}/{TOOL}")


def main():
    if os.path.basename(sys.argv[0]) == TOOL:
        ring = next(word[len("--ring="):] for word in sys.argv if word.startswith("--ring="))
        return play(ring, os.environ["CACHETALLY_PLAYED"])
    if sys.argv[1] == "save":
        return save(sys.argv[2], sys.argv[3], sys.argv[4:])
    return make_folder(sys.argv[2])


if __name__ == "__main__":
    sys.exit(main())
