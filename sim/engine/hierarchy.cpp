// SPDX-License-Identifier: BSD-3-Clause
#include "cachetally/hierarchy.hpp"

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

/// The last batches stay while the same core goes on, and the background may be behind.
BlockPath& Hierarchy::Parts::start_batching(unsigned core) {
    BlockPath* const path = block_paths[core].get();
    if (batching == path) return *path;
    stop_batching();
    batching = path;
    const bool batched = plan.cores[core].execution == Execution::batched;
    Background* const aside = all_merge || batched ? background.get() : nullptr;
    for (RequestPort* link : upper_links) link->notify_through(aside);
    batching->start(aside);
    filters.resize(block_paths.size());
    if (filters[core] == nullptr) filters[core] = std::make_unique<RedundancyFilter>(plan.cores[core].filter);
    filters[core]->clear();
    return *path;
}

void Hierarchy::Parts::stop_batching() {
    if (batching == nullptr) return;
    BlockPath& path = *std::exchange(batching, nullptr);
    path.hand_over();
    if (background) owed += background->complete();
    for (RequestPort* link : upper_links) link->notify_through(nullptr);
    owed += path.waited();
    path.stop();
}

Hierarchy::Hierarchy(const Topology& topology) : parts_(std::make_unique<Parts>(topology)) {}
Hierarchy::~Hierarchy() = default;
Hierarchy::Hierarchy(Hierarchy&&) noexcept = default;
Hierarchy& Hierarchy::operator=(Hierarchy&&) noexcept = default;

unsigned Hierarchy::cores() const { return parts_->machine.cores; }

Tick Hierarchy::reference_at_most() const { return parts_->reference_at_most; }

bool Hierarchy::only_latencies() {
    if (!parts_->prepared) parts_->prepare();
    return parts_->only_latencies;
}

unsigned Hierarchy::copies(std::size_t link) const { return static_cast<unsigned>(parts_->ports.at(link).size()); }

void Hierarchy::listen(std::size_t link, unsigned copy, LinkListener& listener) {
    parts_->stop_batching();
    RequestPort* port = parts_->ports.at(link).at(copy);
    parts_->injections.listen(*port, listener);
    parts_->prepared = false;
}

void Hierarchy::listen(ReferenceListener& listener) {
    parts_->reference_listeners.push_back(&listener);
    parts_->one_by_one = parts_->one_by_one || listener.one_by_one();
    parts_->prepared = false;
}

void Hierarchy::lead_out(std::size_t memory, MemoryDevice* device) {
    parts_->stop_batching();
    parts_->memories.at(memory)->lead_out(device);
    parts_->prepared = false;
}

void Hierarchy::know_sites(const SiteTable* sites) {
    for (const auto& copies : parts_->caches)
        for (const auto& cache : copies) cache->know_sites(sites);
}

Tick Hierarchy::access(unsigned core, const Reference& reference, Tick now) {
    return run(core, {&reference, 1}, now, now + 1).time;
}

void Hierarchy::work_in_background() {
    parts_->stop_batching();
    parts_->background = std::make_unique<Background>();
}

Tick Hierarchy::complete(unsigned core, Tick now) {
    Parts& parts = *parts_;
    parts.stop_batching();
    const Tick owed = std::exchange(parts.owed, 0);
    return parts.injections.pending() ? owed + parts.injections.carry_out(core, now + owed) : owed;
}

void Hierarchy::limit_execution(Execution fastest) {
    parts_->fastest = fastest;
    parts_->prepared = false;
}

const ExecutionPlan& Hierarchy::plan() {
    if (!parts_->prepared) parts_->prepare();
    return parts_->plan;
}

Progress Hierarchy::run(unsigned core, std::span<const Reference> references, Tick now, Tick until) {
    Parts& parts = *parts_;
    if (!parts.prepared) parts.prepare();
    if (until == ~Tick{0} && parts.block_paths[core] != nullptr) {
        BlockPath& path = parts.start_batching(core);
        for (std::size_t done = 0; done < references.size();) {
            const FilteredBlock block = parts.filters[core]->filter(references.subspan(done));
            now += path.run(block);
            done += block.references;
        }
        parts.references += references.size();
        for (ReferenceListener* listener : parts.reference_listeners) listener->on_references(core, references);
        if (!parts.background) now += complete(core, now);
        return {references.size(), now};
    }
    if (parts.batching != nullptr || parts.owed != 0) now += complete(core, now);
    const auto& paths = parts.paths_of[core];
    std::size_t done = 0;
    while (done < references.size() && now < until) {
        CorePath* const path = paths[references[done].kind == ReferenceKind::fetch ? 1 : 0];
        if (path == nullptr) {
            ++done;  // nothing in the machine serves this kind
            continue;
        }
        // However references are handed over: what records have made listeners send waits for one more.
        const auto rest = references.subspan(done);
        const bool one = parts.injections.pending() || parts.one_by_one;
        if (parts.one_by_one)
            for (ReferenceListener* listener : parts.reference_listeners) listener->before(core, rest.front());
        const Progress progress = path->run(rest.first(one ? 1 : rest.size()), now, until, parts.injections);
        if (parts.one_by_one)
            for (ReferenceListener* listener : parts.reference_listeners)
                listener->after(core, rest.front(), progress.time - now);
        done += progress.done;
        now = progress.time;
        if (parts.injections.pending()) now = time_sum(now, parts.injections.carry_out(core, now));
    }
    parts.references += done;
    for (ReferenceListener* listener : parts.reference_listeners) listener->on_references(core, references.first(done));
    return {done, now};
}

Tick Hierarchy::run_filtered(unsigned core, std::span<const FilteredBlock> blocks, Tick now) {
    Parts& parts = *parts_;
    if (!plan().cores[core].takes_blocks())
        throw std::logic_error("references of this core are carried out one by one");
    BlockPath& path = parts.start_batching(core);
    for (const FilteredBlock& block : blocks) {
        now += path.run(block);
        parts.references += block.references;
        for (ReferenceListener* listener : parts.reference_listeners)
            for (const FilteredAccesses* accesses : {&block.data, &block.fetches})
                listener->on_accesses(core, accesses->sites);
    }
    parts.filters[core]->clear();  // it has not seen these
    if (!parts.background) now += complete(core, now);
    return now;
}

Tick Hierarchy::control(const Control& control, unsigned core, Tick time) {
    Parts& parts = *parts_;
    const Tick owed = complete(core, time);
    time += owed;
    const bool of_core = control.kind == Control::Kind::enter_function || control.kind == Control::Kind::leave_function;
    for (std::size_t id = 0; id < parts.links.size(); ++id) {
        const Component& upper = parts.component(parts.links[id].from);
        for (unsigned copy = 0; copy < parts.ports[id].size(); ++copy)
            if (!of_core || copy == copy_for(upper, core)) parts.ports[id][copy]->control(control, time);
    }
    for (ReferenceListener* listener : parts.reference_listeners) listener->on_control(control);
    return owed + (parts.injections.pending() ? parts.injections.carry_out(core, time) : 0);
}

HierarchyCounts Hierarchy::counts() const {
    parts_->stop_batching();
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
    parts_->stop_batching();
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
