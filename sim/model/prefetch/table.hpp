// SPDX-License-Identifier: BSD-3-Clause
// The prefetchers: a row here and a source beside this file are all that a prefetcher needs (CONTRIBUTING.md).
#pragma once

#include "cachetally/machine.hpp"

// The name in machine files; make_NAME_prefetcher() makes one. Whether it has `entries`, and `degree` and `distance`.
#define CACHETALLY_PREFETCHERS(ROW)  \
    ROW(next_line, false, true)      \
    ROW(adjacent_line, false, false) \
    ROW(stride, true, true)          \
    ROW(stream, true, true)

/// Values of PrefetchKind, as prefetchers::stream.
namespace cachetally::prefetchers {
#define CACHETALLY_ENUMERATOR(name, ...) name,
#define CACHETALLY_VALUE(name, ...) inline constexpr PrefetchKind name{row::name};
namespace row {
enum Number : std::uint8_t { none, CACHETALLY_PREFETCHERS(CACHETALLY_ENUMERATOR) };
}
CACHETALLY_PREFETCHERS(CACHETALLY_VALUE)
#undef CACHETALLY_ENUMERATOR
#undef CACHETALLY_VALUE
}  // namespace cachetally::prefetchers
