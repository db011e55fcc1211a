// SPDX-License-Identifier: BSD-3-Clause
// The prefetchers: a row here and a source beside this file are all that a prefetcher needs (CONTRIBUTING.md).
#pragma once

// The name in machine files; make_NAME_prefetcher() makes one. Whether it has `entries`.
#define CACHETALLY_PREFETCHERS(ROW) \
    ROW(next_line, false)           \
    ROW(stride, true)               \
    ROW(stream, true)
