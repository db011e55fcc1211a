# SPDX-License-Identifier: BSD-3-Clause
"""The one exception of this package."""


class CachetallyError(Exception):
    """What is wrong with a file, a question or a run, in words: the file or the name, and what would be right. Of a run: the program's own message."""
