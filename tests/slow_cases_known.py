# SPDX-License-Identifier: BSD-3-Clause
"""The cases that slow_with_sanitizers.txt leaves out are in the sources: one that was renamed would run there unseen."""

import re
from pathlib import Path
from sys import exit

tests = Path(__file__).parent
macros = re.compile(r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\(\s*(\w+),\s*(\w+)")
known = {f"{suite}.{case}" for file in tests.rglob("*.cpp") for suite, case in macros.findall(file.read_text())}
wanted = [line for line in (tests / "slow_with_sanitizers.txt").read_text().splitlines() if not line.startswith("#")]


def is_known(pattern: str) -> bool:
    suite, _, case = pattern.partition(".")
    name = f"{suite.split('/')[-1]}.{case.split('/')[0]}"
    return any(re.fullmatch(re.escape(name).replace(r"\*", ".*"), each) for each in known)


unknown = [pattern for pattern in wanted if not is_known(pattern)]
for pattern in unknown:
    print(f"slow_with_sanitizers.txt: no test is named '{pattern}'")
print(f"{len(wanted)} cases, {len(unknown)} unknown")
exit(bool(unknown) or not wanted)
