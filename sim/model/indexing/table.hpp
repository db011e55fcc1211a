// SPDX-License-Identifier: BSD-3-Clause
// The indexing functions besides modulo: a row here and a file beside this one are all that one needs
// (CONTRIBUTING.md).
#pragma once

#include "cachetally/machine.hpp"
#include "sim/model/indexing/sliced.hpp"
#include "sim/model/indexing/xor_hash.hpp"

// The name in machine files, which is that of the function.
#define CACHETALLY_INDEXINGS(ROW) ROW(xor_hash)
// The same of functions that choose a slice.
#define CACHETALLY_SLICINGS(ROW) ROW(sliced)

/// Values of Indexing, as indexings::xor_hash.
namespace cachetally::indexings {
#define CACHETALLY_ENUMERATOR(name, ...) name,
#define CACHETALLY_VALUE(name, ...) inline constexpr Indexing name{row::name};
namespace row {
enum Number : std::uint8_t {
    modulo,
    CACHETALLY_INDEXINGS(CACHETALLY_ENUMERATOR) CACHETALLY_SLICINGS(CACHETALLY_ENUMERATOR)
};
}
CACHETALLY_INDEXINGS(CACHETALLY_VALUE)
CACHETALLY_SLICINGS(CACHETALLY_VALUE)
#undef CACHETALLY_ENUMERATOR
#undef CACHETALLY_VALUE
}  // namespace cachetally::indexings
