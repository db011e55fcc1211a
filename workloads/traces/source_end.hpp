// SPDX-License-Identifier: BSD-3-Clause
// A source that ends early: the same references of it, in whatever order its streams are asked for them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cachetally/reference_source.hpp"

namespace cachetally {

/// How many references each stream has among the first `most` of all: streams take turns, a reference each, between the
/// barriers where all meet. Reads the source so far. Throws std::runtime_error where `go_on`, asked now and then, says
/// no.
std::vector<std::uint64_t> first_references(ReferenceSource& source, std::uint64_t most,
                                            const std::function<bool()>& go_on);

/// The source, whose streams end after so many references, as first_references() gives them.
std::unique_ptr<ReferenceSource> ended_source(std::unique_ptr<ReferenceSource> source,
                                              std::vector<std::uint64_t> references);

}  // namespace cachetally
