// SPDX-License-Identifier: BSD-3-Clause
// Prefetcher: watches the demand accesses of a level and says which lines it would bring in.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cachetally/machine.hpp"
#include "cachetally/types.hpp"
#include "sim/model/prefetch/table.hpp"

namespace cachetally {

/// A demand access as a prefetcher sees it.
struct Observation {
    Address address = 0;  ///< physical, of the reference
    Address line = 0;     ///< physical, of the line
    std::uint32_t site = 0;
    bool trigger = false;  ///< it missed, or was the first hit on a line that was prefetched
};

/// What decides which lines to bring in: a source in sim/model/prefetch/ and a row in its table. State and integers
/// only; equal observations give equal wishes.
class Prefetcher {
public:
    virtual ~Prefetcher() = default;

    /// Called for each demand access (load, store, fetch) of the level, after its hit or miss was carried out. Appends
    /// the addresses that it asks for, nearest first; the cache leaves out what crosses 4 KiB or is there already.
    virtual void observe(const Observation& observation, std::vector<Address>& wanted) = 0;

    /// False where only triggers matter, so that hits that repeat the last access need not be shown: these may be
    /// skipped if nothing else of the level changes.
    virtual bool sees_every_access() const { return false; }

    /// False where Observation::site does not matter, so that it need not be known.
    virtual bool goes_by_site() const { return true; }
};

/// What is known of a prefetcher; its number in the span is its enumerator. The first is `none`.
struct PrefetcherRow {
    std::string_view name;
    bool has_entries;  ///< PrefetchConfig::entries means something
    bool has_degree;   ///< PrefetchConfig::degree and distance mean something
    std::unique_ptr<Prefetcher> (*make)(const PrefetchConfig& config, unsigned line_bytes);
};

#define CACHETALLY_DECLARE(name, ...) \
    std::unique_ptr<Prefetcher> make_##name##_prefetcher(const PrefetchConfig& config, unsigned line_bytes);
#define CACHETALLY_ROW(name, has_entries, has_degree) {#name, has_entries, has_degree, make_##name##_prefetcher},
CACHETALLY_PREFETCHERS(CACHETALLY_DECLARE)
inline constexpr PrefetcherRow built_in_prefetchers[] = {
    {"none", true, true, [](const PrefetchConfig&, unsigned) { return std::unique_ptr<Prefetcher>(); }},
    CACHETALLY_PREFETCHERS(CACHETALLY_ROW)};
#undef CACHETALLY_DECLARE
#undef CACHETALLY_ROW

/// The prefetchers of the program. A source of its own, so that a program may link another with more rows.
std::span<const PrefetcherRow> prefetcher_rows();
inline const PrefetcherRow& row_of(PrefetchKind kind) { return prefetcher_rows()[static_cast<std::size_t>(kind)]; }

}  // namespace cachetally
