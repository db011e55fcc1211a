// SPDX-License-Identifier: BSD-3-Clause
// Which part of a source's streams is made, and by which cores.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cachetally/reference_source.hpp"

namespace cachetally {

/// Whether a function is meant by a name: its own, or that before its parameters or template arguments, with or without
/// the type of its result, which names of templates have.
bool is_function(std::string_view function, std::string_view name);

/// "; did you mean 'solve'?", where one of the functions is near; else nothing.
std::string function_advice(std::string_view name, const std::vector<std::string>& functions);

/// Where a source begins.
struct SourceBeginning {
    std::string from;  ///< a function: at the first reference of its code, or where it is entered; empty: anywhere
    std::uint64_t skip = 0;  ///< so many references later
    /// The function of a site, where the source knows it earlier than by site_names().
    std::function<std::string(std::uint32_t site)> function_of = {};
};

/// The source without its beginning. Streams take turns there, a reference each, between the barriers where all meet;
/// phases do not end. Functions that are entered there, the name of the phase, and the switch of monitors are as they
/// would be. next() throws TraceError where the source is over before, with what functions there are.
std::unique_ptr<ReferenceSource> late_source(std::unique_ptr<ReferenceSource> source, SourceBeginning beginning);

/// References of a stream in a row where a core makes several.
inline constexpr std::size_t turn_of_streams = 10'000;

/// The source with its streams on these cores, by their number; further ones on all cores in turn, of `cores`. Those of
/// one core take turns.
std::unique_ptr<ReferenceSource> mapped_source(std::unique_ptr<ReferenceSource> source, std::vector<unsigned> map,
                                               unsigned cores);

}  // namespace cachetally
