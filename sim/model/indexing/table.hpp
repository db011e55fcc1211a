// SPDX-License-Identifier: BSD-3-Clause
// The indexing functions besides modulo: a row here and a file beside this one are all that one needs
// (CONTRIBUTING.md).
#pragma once

#include "sim/model/indexing/xor_hash.hpp"

// The name in machine files, which is that of the function.
#define CACHETALLY_INDEXINGS(ROW) ROW(xor_hash)
