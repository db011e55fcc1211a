// SPDX-License-Identifier: BSD-3-Clause
// Posted requests of a cache: many at a time, in loops that know the type of its array.
#pragma once

#include "sim/model/cache.hpp"

namespace cachetally {

/// What may go down is written whether it does or not, and then perhaps overwritten: a branch would cost more.
template <bool far, class Lookup>
std::span<const Posted> Cache::take_by(const Lookup lookup, std::span<const Posted> posts) {
    const Address line_mask = ~line_mask_;
    const std::uint64_t traffic = config_.write_back_traffic ? 1 : 0;
    std::array<std::uint64_t, event_kind_count> requests{}, misses{};
    std::uint64_t first_fills = 0, written_back = 0;
    Posted* out = below_.posts().room(2 * posts.size());
    const Posted* post = posts.data();
    const Posted* const end = post + posts.size();
    for (; post < end; ++post) {
        if (far) lookup.expect(post[Posts::slack].address);
        const Address line = post->address & line_mask;
        if (!lookup.fits(line)) [[unlikely]]
            break;
        const std::uint64_t cause = post->cause, victim_of_upper = post->address & entry_bit::dirty;
        const unsigned kind = index_of(Cause::from(cause).kind());
        const Placed placed = lookup.replace(line, victim_of_upper);
        const std::uint64_t dirty = placed.miss & traffic & (placed.old / entry_bit::dirty);
        ++requests[kind];
        // Nearer levels hit or miss for long stretches; of farther ones none can predict it.
        if (!far && placed.miss == 0) continue;
        misses[kind] += placed.miss;
        *out = {line, cause};
        out += placed.miss & ~(victim_of_upper / entry_bit::dirty);
        *out = {lookup.line_of_old(placed.old, line) | entry_bit::dirty,
                Cause::from(cause).as(EventKind::write_back).word()};
        out += dirty;
        written_back += dirty;
        if ((placed.old & entry_bit::valid) == 0) [[unlikely]]
            ++first_fills;
    }
    below_.posts().set_end(out);
    counts_.writebacks_out += written_back;
    counts_.evictions -= first_fills;
    for (unsigned kind = 0; kind < event_kind_count; ++kind) {
        requests_[kind] += requests[kind];
        misses_[kind] += misses[kind];
        counts_.evictions += misses[kind];
    }
    return {post, end};
}

}  // namespace cachetally
