// SPDX-License-Identifier: BSD-3-Clause
#include "sim/engine/hierarchy.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "sim/engine/hierarchy_parts.hpp"

namespace cachetally {
namespace {

template <class Part>
auto sum_of(const Copies<Part>& copies) {
    auto sum = copies.front()->counts();
    for (std::size_t i = 1; i < copies.size(); ++i) sum = sum + copies[i]->counts();
    return sum;
}

}  // namespace

void Hierarchy::Parts::settle() {
    std::uint32_t longest = 0;
    for (const auto& path : paths) longest = std::max(longest, path->line_bytes());
    const bool timed = machine.has_link_timing() || numa ||
                       !std::ranges::all_of(memories, [](const auto& memory) { return memory->timeless(); });
    const bool merges =
        std::ranges::all_of(injections.links(), [&](const Downlink* link) { return link->merges(longest, timed); });
    only_latencies = !timed && merges;
    for (const auto& path : paths) path->settle(longest, timed, merges);
    settled = true;
}

/// The last posts stay while the same path goes on, and the background may be behind.
Progress Hierarchy::Parts::post(CorePath& path, std::span<const Reference> some, std::span<const Stretch> stretches,
                                Tick now) {
    if (posting != &path) {
        if (posting != nullptr) posting->hand_over(background.get());
        posting = &path;
        path.post(true);
        for (Downlink* link : upper_links) link->tell_by(background.get());
    }
    return path.run_posting(some, stretches, now, background.get());
}

void Hierarchy::Parts::stop_posting() {
    if (posting == nullptr) return;
    std::exchange(posting, nullptr)->hand_over(background.get());
    if (background) owed += background->complete();
    for (Downlink* link : upper_links) link->tell_by(nullptr);
    for (const auto& path : paths) {
        owed += path->waited();
        path->post(false);
    }
}

Hierarchy::Hierarchy(const Topology& topology, bool sieved) : parts_(std::make_unique<Parts>(topology, sieved)) {}
Hierarchy::~Hierarchy() = default;
Hierarchy::Hierarchy(Hierarchy&&) noexcept = default;
Hierarchy& Hierarchy::operator=(Hierarchy&&) noexcept = default;

unsigned Hierarchy::cores() const { return parts_->machine.cores; }

Tick Hierarchy::reference_at_most() const { return parts_->reference_at_most; }

bool Hierarchy::only_latencies() {
    if (!parts_->settled) parts_->settle();
    return parts_->only_latencies;
}

unsigned Hierarchy::copies(std::size_t link) const { return static_cast<unsigned>(parts_->downlinks.at(link).size()); }

void Hierarchy::listen(std::size_t link, unsigned copy, LinkListener& listener) {
    parts_->stop_posting();
    Downlink* downlink = parts_->downlinks.at(link).at(copy);
    parts_->injections.listen(*downlink, listener);
    parts_->settled = false;
}

void Hierarchy::lead_out(std::size_t memory, MemoryDevice* device) {
    parts_->stop_posting();
    parts_->memories.at(memory)->lead_out(device);
    parts_->settled = false;
}

Tick Hierarchy::access(unsigned core, const Reference& reference, Tick now) {
    return run(core, {&reference, 1}, now, now + 1).time;
}

void Hierarchy::work_in_background() {
    parts_->stop_posting();
    parts_->background = std::make_unique<Background>();
}

Tick Hierarchy::complete(unsigned core, Tick now) {
    Parts& parts = *parts_;
    parts.stop_posting();
    const Tick owed = std::exchange(parts.owed, 0);
    return parts.injections.pending() ? owed + parts.injections.carry_out(core, now + owed) : owed;
}

LineWish Hierarchy::lines_wished(unsigned core) {
    if (!parts_->settled) parts_->settle();
    const CorePath* const path = parts_->paths_of[core][0];
    return path != nullptr && path->posts() ? path->lines_wished() : LineWish{};
}

Progress Hierarchy::run(unsigned core, std::span<const Reference> references, Tick now, Tick until,
                        std::span<const Stretch> stretches) {
    Parts& parts = *parts_;
    if (!parts.settled) parts.settle();
    const auto& paths = parts.paths_of[core];
    std::size_t done = 0;
    while (done < references.size() && now < until) {
        CorePath* const path = paths[references[done].kind == ReferenceKind::fetch ? 1 : 0];
        if (path == nullptr) {
            ++done;  // nothing in the machine serves this kind
            continue;
        }
        const auto rest = references.subspan(done);
        if (path != paths[0]) stretches = {};
        if (until == ~Tick{0} && path->posts()) {
            const Progress progress = parts.post(*path, rest, stretches, now);
            done += progress.done;
            now = progress.time;
        } else {
            if (parts.posting != nullptr || parts.owed != 0) now += complete(core, now);
            // However references are handed over: what records have made listeners send waits for one more.
            const Progress progress =
                path->run(rest.first(parts.injections.pending() ? 1 : rest.size()), now, until, parts.injections);
            done += progress.done;
            now = progress.time;
            if (parts.injections.pending()) now = time_sum(now, parts.injections.carry_out(core, now));
        }
        stretches = {};  // seldom is there a rest
    }
    if (!parts.background && parts.posting != nullptr) now += complete(core, now);
    parts.references += done;
    return {done, now};
}

Tick Hierarchy::run_sieved(unsigned core, std::span<const Stretch> stretches, Tick now) {
    Parts& parts = *parts_;
    if (!lines_wished(core).sieved) throw std::logic_error("this core's way takes no sieved stretches");
    if (stretches.empty()) return now;
    now = parts.post(*parts.paths_of[core][0], {}, stretches, now).time;
    if (!parts.background) now += complete(core, now);
    for (const Stretch& stretch : stretches)
        parts.references += stretch.size() + (stretch.straddling != nullptr ? 1 : 0);
    return now;
}

Tick Hierarchy::control(const Control& control, unsigned core, Tick time) {
    Parts& parts = *parts_;
    const Tick owed = complete(core, time);
    time += owed;
    const bool of_core = control.kind == Control::Kind::enter_function || control.kind == Control::Kind::leave_function;
    for (std::size_t id = 0; id < parts.links.size(); ++id) {
        const Component& upper = parts.component(parts.links[id].from);
        for (unsigned copy = 0; copy < parts.downlinks[id].size(); ++copy)
            if (!of_core || copy == copy_for(upper, core)) parts.downlinks[id][copy]->control(control, time);
    }
    return owed + (parts.injections.pending() ? parts.injections.carry_out(core, time) : 0);
}

HierarchyCounts Hierarchy::counts() const {
    parts_->stop_posting();
    HierarchyCounts counts;
    for (const auto& copies : parts_->caches) counts.caches.push_back(sum_of(copies));
    for (const auto& copies : parts_->tlbs) counts.tlbs.push_back(sum_of(copies));
    for (const auto& memory : parts_->memories) counts.memories.push_back(memory->counts());
    for (const auto& copies : parts_->buses) {
        BusCounts& sum = counts.buses.emplace_back();
        for (const auto& bus : copies) sum = sum + bus->counts();
    }
    if (parts_->numa) {
        counts.numa = parts_->numa->counts();
        if (parts_->machine.has_link_timing()) counts.buses.push_back(parts_->numa->traffic());
    }
    if (parts_->coherence) counts.coherence.push_back(parts_->coherence->counts());
    counts.references = parts_->references;
    for (const auto& walker : parts_->walkers) counts.page_walks += walker->walks();
    return counts;
}

std::uint64_t Hierarchy::digest() const {
    parts_->stop_posting();
    std::uint64_t digest = 0;
    for (const auto& copies : parts_->caches)
        for (const auto& cache : copies) digest = digest_of(digest, cache->digest());
    for (const auto& copies : parts_->tlbs)
        for (const auto& tlb : copies) digest = digest_of(digest, tlb->digest());
    if (parts_->coherence) digest = digest_of(digest, parts_->coherence->digest());
    return digest;
}

std::size_t Hierarchy::home(unsigned core, Address physical) {
    Parts& parts = *parts_;
    return parts.numa ? parts.numa->homes().home(physical, parts.node_of(core)) : 0;
}

Address Hierarchy::end_of_home(Address physical) const {
    return parts_->numa ? parts_->numa->homes().end(physical) : 0;
}

Address Hierarchy::virtual_address(Address physical) const { return parts_->pages.virtual_address(physical); }

}  // namespace cachetally
