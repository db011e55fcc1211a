# SPDX-License-Identifier: BSD-3-Clause
"""What README.md and docs show of kernels is what the program prints: the lines below a command are lines of its output, in this order.
Commands of a document are run one after the other in one directory; "..." stands for any lines."""
import shlex
import unittest

import support

documents = ["README.md", "docs/causes.md", "docs/reuse.md"]
prefix = "    "


def examples(text):
    """Commands, and the lines shown below each."""
    found, shown = [], None
    for line in text.splitlines():
        if line.startswith(f"{prefix}$ cachetally "):
            found.append((shlex.split(line)[2:], shown := []))
        elif line.startswith(prefix) and shown is not None:
            shown.append(line[len(prefix):].rstrip())
        elif line:
            shown = None
    return found


class Examples(support.InDirectory):
    def test_are_what_the_program_prints(self):
        for document in documents:
            all_of = examples((support.root / document).read_text())
            self.assertTrue(all_of, document)
            for words, shown in all_of:
                printed = iter([line.rstrip() for line in support.call(*words, cwd=self.directory).splitlines()])
                for line in shown:
                    if line != "...":
                        self.assertTrue(line in printed, f"{document}: {shlex.join(words)} prints no line, or not in this place: {line}")


if __name__ == "__main__":
    unittest.main()
