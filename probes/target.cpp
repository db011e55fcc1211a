// SPDX-License-Identifier: BSD-3-Clause
#include "probes/target.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/units.hpp"

namespace cachetally {

Quantiles quantiles_of(std::vector<double> values) {
    if (values.empty()) return {};
    std::ranges::sort(values);
    const auto at = [&](unsigned quarters) { return values[(values.size() - 1) * quarters / 4]; };
    return {at(0), at(1), at(2), at(3), at(4)};
}

void check_arena(const Capabilities& capabilities, std::uint64_t bytes, std::uint64_t page) {
    if (std::ranges::find(capabilities.page_sizes, page) == capabilities.page_sizes.end())
        throw ProbeError("there are no pages of {} here", format_size(page));
    if (bytes > capabilities.largest_arena)
        throw ProbeError("an arena of {} is larger than {}, which can be had", format_size(bytes),
                         format_size(capabilities.largest_arena));
}

Measurement ProbeTarget::transfer(const Arena&, unsigned, const ChaseOn&, unsigned) {
    throw ProbeError("this target moves no lines between processors");
}

Measurement ProbeTarget::run_after(const Arena&, const ChaseOn&, const ChaseOn&, unsigned) {
    throw ProbeError("this target has no chase after another one");
}

Measurement ProbeTarget::prime_and_probe(const Arena&, const PrimeProbe&, const Effort&) {
    throw ProbeError("this target does not tell what stays after other loads");
}

std::string_view name_of(Streaming::Kind kind) {
    switch (kind) {
        case Streaming::Kind::read: return "read";
        case Streaming::Kind::write: return "write";
        case Streaming::Kind::copy: break;
    }
    return "copy";
}

void check_stream(const Capabilities& capabilities, const Arena& arena, const Streaming& stream) {
    constexpr std::uint64_t part = 2048;
    if (!capabilities.streams) throw ProbeError("spans cannot be streamed here: {}", capabilities.no_streams);
    if (stream.bytes == 0 || stream.bytes % part != 0 || stream.bytes > arena.bytes)
        throw ProbeError("{} bytes to {} are no multiple of {} within an arena of {} bytes", stream.bytes,
                         name_of(stream.kind), part, arena.bytes);
}

Measurement ProbeTarget::stream(const Arena& arena, const Streaming& stream, const Effort&) {
    check_stream(capabilities(), arena, stream);
    throw ProbeError("this target has no streams");
}

void check_single(const Chase& chase) {
    if (chase.stores) throw ProbeError("only runs and primes store; this is a question of loads alone");
    if (chase.chains != 1)
        throw ProbeError("only runs have several chains; this is a question of one chain, not of {}", chase.chains);
}

void check_chase(const Capabilities& capabilities, const Arena& arena, const Chase& chase) {
    if (chase.offsets.empty()) throw ProbeError("a chase needs at least one load");
    if (chase.floating_point && !capabilities.floating_point)
        throw ProbeError("this target has no way of its own for floating-point loads");
    if (chase.chains == 0 || chase.offsets.size() % chase.chains != 0)
        throw ProbeError("{} loads are not {} equal chains", chase.offsets.size(), chase.chains);
    if (chase.stores && (chase.floating_point || chase.chains != 1))
        throw ProbeError("a chase that stores is a single one, of integers");
    if (chase.chains > capabilities.most_chains)
        throw ProbeError("a chase of {} chains is more than {} here{}", chase.chains, capabilities.most_chains,
                         capabilities.no_chains.empty() ? "" : ": " + capabilities.no_chains);
    for (const std::uint64_t offset : chase.offsets)
        if (offset >= arena.bytes)
            throw ProbeError("offset {} lies outside of an arena of {} bytes", offset, arena.bytes);
}

namespace {

void check_processor(const Capabilities& capabilities, unsigned processor) {
    if (std::ranges::find(capabilities.processors, processor) == capabilities.processors.end())
        throw ProbeError("processor {} cannot make loads here; these can: {}", processor,
                         fmt::join(capabilities.processors, ", "));
}

}  // namespace

void check_transfer(const Capabilities& capabilities, const Arena& arena, unsigned from, const ChaseOn& to) {
    check_processor(capabilities, from);
    check_processor(capabilities, to.processor);
    if (from == to.processor) throw ProbeError("a line moves between two processors; both are {}", from);
    if (!capabilities.no_transfers.empty()) throw ProbeError("{}", capabilities.no_transfers);
    check_chase(capabilities, arena, to.chase);
    check_single(to.chase);
}

void check_run_after(const Capabilities& capabilities, const Arena& arena, const ChaseOn& one, const ChaseOn& other) {
    for (const ChaseOn* each : {&one, &other}) {
        check_processor(capabilities, each->processor);
        check_chase(capabilities, arena, each->chase);
        check_single(each->chase);
    }
}

std::vector<std::span<const std::uint64_t>> parts_of(const Capabilities& capabilities, const Arena& arena,
                                                     const PrimeProbe& both) {
    for (const Chase* each : {&both.prime, &both.probe}) check_chase(capabilities, arena, *each);
    check_single(both.probe);
    if (both.touched != PrimeProbe::nowhere && both.touched + sizeof(void*) > arena.bytes)
        throw ProbeError("offset {} lies outside of an arena of {}", both.touched, format_size(arena.bytes));
    if (both.prime.floating_point != both.probe.floating_point) throw ProbeError("prime and probe are of one kind");
    const std::size_t loads = both.probe.offsets.size();
    if (both.parts == 0 || both.parts > loads || both.used == 0 || both.used > both.parts)
        throw ProbeError("of a probe of {} loads {} of {} parts cannot be used", loads, both.used, both.parts);
    const std::size_t each = (loads + both.parts - 1) / both.parts;
    std::vector<std::span<const std::uint64_t>> parts;
    for (std::size_t first = 0; first < loads && parts.size() < both.used; first += each)
        parts.push_back(both.probe.offsets.subspan(first, std::min(each, loads - first)));
    return parts;
}

}  // namespace cachetally
