#include "sim/engine/hierarchy.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "sim/engine/core_path.hpp"
#include "sim/model/background.hpp"
#include "sim/model/memory.hpp"

namespace cachetally {
namespace {

template <class Part>
using Copies = std::vector<std::unique_ptr<Part>>;

/// Which copy of a component serves a core.
unsigned copy_for(const Component& component, unsigned core) { return core / component.cores_per_copy; }

template <class Part>
auto sum_of(const Copies<Part>& copies) {
    auto sum = copies.front()->counts();
    for (std::size_t i = 1; i < copies.size(); ++i) sum = sum + copies[i]->counts();
    return sum;
}

}  // namespace

/// The components, and the copies of every link. Elaboration goes through the topology once.
struct Hierarchy::Parts {
    Parts(const Topology& topology, bool sieved);

    const Component& component(std::size_t id) const { return components[id]; }
    bool next_to_core(const Component& part) const;
    void make_components(bool sieved);
    void connect(std::size_t id, const LinkInfo& link);
    void connect_core(std::size_t id, const LinkInfo& link);
    void connect_walker(std::size_t id, const LinkInfo& link);
    void connect_cache(std::size_t id, const LinkInfo& link);
    void connect_tlb(std::size_t id, const LinkInfo& link);
    void lead(Downlink& from, const Component& to, unsigned core);
    void expect_loss_above(Cache& inclusive);
    void make_paths();
    void path_for(unsigned core, bool fetch, Downlink& way, Tlb* tlb, Downlink* tlb_way);
    void settle();
    Tick inject(unsigned core, Tick time);
    Progress post(CorePath& path, std::span<const Reference> some, std::span<const Stretch> stretches, Tick now);
    void stop_posting();

    MachineDescription machine;
    std::vector<Component> components;
    std::vector<LinkInfo> links;
    PageTable pages;
    std::vector<Copies<Cache>> caches;
    std::vector<Copies<Tlb>> tlbs;
    Copies<PageWalker> walkers;
    Copies<Memory> memories;
    std::vector<std::vector<Downlink*>> downlinks;  ///< by link id and copy
    Copies<Downlink> core_links;                    ///< those that no component owns: from the cores
    Copies<CorePath> paths;
    std::vector<std::array<CorePath*, 2>> paths_of;  ///< by core: data, fetch (null: not simulated)
    std::vector<Downlink*> upper_links;              ///< of cores, TLBs and walkers
    std::vector<Downlink*> listened;
    std::uint64_t references = 0;
    bool pending = false;  ///< a listener sent something back
    bool settled = false;
    CorePath* posting = nullptr;  ///< the path that ran last, where something may be posted
    std::unique_ptr<Background> background;
    Tick owed = 0;  ///< for which somebody waited in what was posted
};

Hierarchy::Parts::Parts(const Topology& topology, bool sieved)
    : machine(topology.machine()),
      components(topology.components()),
      links(topology.links()),
      pages(machine.pages, machine.memories.front().size),
      downlinks(links.size()) {
    make_components(sieved);
    for (std::size_t id = 0; id < links.size(); ++id) connect(id, links[id]);
    // In the order of the machine description, which is the order in which an inclusive level takes lines away.
    for (auto& copies : caches)
        for (auto& cache : copies)
            if (Cache* below = cache->below().cache()) below->add_above(*cache);
    for (auto& copies : caches)
        for (auto& cache : copies)
            if (cache->config().inclusion == Inclusion::inclusive) expect_loss_above(*cache);
    for (auto& copies : caches)
        for (auto& cache : copies) cache->settle();
    make_paths();
}

bool Hierarchy::Parts::next_to_core(const Component& part) const {
    return std::ranges::any_of(links, [&](const LinkInfo& link) {
        return component(link.from).kind == Component::Kind::core && &component(link.to) == &part;
    });
}

void Hierarchy::Parts::make_components(bool sieved) {
    caches.resize(machine.caches.size());
    tlbs.resize(machine.tlbs.size());
    memories.resize(machine.memories.size());
    for (const Component& part : components) {
        for (unsigned copy = 0; copy < part.copies; ++copy) {
            switch (part.kind) {
                case Component::Kind::core: break;
                case Component::Kind::tlb:
                    tlbs[part.index].push_back(std::make_unique<Tlb>(machine.tlbs[part.index], copy, machine.period));
                    break;
                case Component::Kind::walker: break;
                case Component::Kind::cache:
                    caches[part.index].push_back(make_cache(machine.caches[part.index], copy, machine.period,
                                                            next_to_core(part), next_to_core(part) && !sieved));
                    break;
                case Component::Kind::memory:
                    memories[part.index] =
                        std::make_unique<Memory>(machine.memories[part.index].latency * machine.period);
                    break;
            }
        }
    }
    for (unsigned core = 0; core < machine.cores; ++core)
        walkers.push_back(std::make_unique<PageWalker>(machine.pages, pages, machine.period));
}

void Hierarchy::Parts::connect(std::size_t id, const LinkInfo& link) {
    switch (component(link.from).kind) {
        case Component::Kind::core: connect_core(id, link); break;
        case Component::Kind::tlb: connect_tlb(id, link); break;
        case Component::Kind::walker: connect_walker(id, link); break;
        case Component::Kind::cache: connect_cache(id, link); break;
        case Component::Kind::memory: break;
    }
}

/// Lets a downlink lead to the copy of a component that serves `core`.
void Hierarchy::Parts::lead(Downlink& from, const Component& to, unsigned core) {
    from.lead_past_caches_to(*memories.front());
    if (to.kind == Component::Kind::memory) from.lead_to(*memories[to.index]);
    if (to.kind != Component::Kind::cache) return;
    Cache& cache = *caches[to.index][copy_for(to, core)];
    from.lead_to(cache);
    const Inclusion inclusion = cache.config().inclusion;
    if (inclusion == Inclusion::exclusive || inclusion == Inclusion::victim) from.take_clean_victims();
}

void Hierarchy::Parts::connect_core(std::size_t id, const LinkInfo& link) {
    for (unsigned core = 0; core < machine.cores; ++core) {
        core_links.push_back(std::make_unique<Downlink>());
        lead(*core_links.back(), component(link.to), core);
        downlinks[id].push_back(core_links.back().get());
        upper_links.push_back(core_links.back().get());
    }
}

void Hierarchy::Parts::connect_walker(std::size_t id, const LinkInfo& link) {
    for (unsigned core = 0; core < machine.cores; ++core) {
        lead(walkers[core]->below(), component(link.to), core);
        downlinks[id].push_back(&walkers[core]->below());
        upper_links.push_back(&walkers[core]->below());
    }
}

void Hierarchy::Parts::connect_cache(std::size_t id, const LinkInfo& link) {
    const Component& upper = component(link.from);
    for (unsigned copy = 0; copy < upper.copies; ++copy) {
        Cache& cache = *caches[upper.index][copy];
        lead(cache.below(), component(link.to), copy * upper.cores_per_copy);
        if (cache.config().virtually_indexed) cache.use_page_table(pages);
        downlinks[id].push_back(&cache.below());
    }
}

void Hierarchy::Parts::connect_tlb(std::size_t id, const LinkInfo& link) {
    const Component& upper = component(link.from);
    const Component& lower = component(link.to);
    std::vector<PageWalker*> by_core;
    for (const auto& walker : walkers) by_core.push_back(walker.get());
    for (unsigned copy = 0; copy < upper.copies; ++copy) {
        Tlb& tlb = *tlbs[upper.index][copy];
        if (lower.kind == Component::Kind::tlb) {
            tlb.lead_to(*tlbs[lower.index][copy_for(lower, copy * upper.cores_per_copy)]);
        } else {
            tlb.lead_to(by_core);
        }
        tlb.below().lead_past_caches_to(*memories.front());  // records from here have no other way
        downlinks[id].push_back(&tlb.below());
        upper_links.push_back(&tlb.below());
    }
}

void Hierarchy::Parts::expect_loss_above(Cache& inclusive) {
    for (Cache* upper : inclusive.above()) {
        upper->expect_loss_of_lines();
        expect_loss_above(*upper);
    }
}

void Hierarchy::Parts::make_paths() {
    paths_of.assign(machine.cores, {nullptr, nullptr});
    const auto serves = [&](const Component& part, bool fetch) {
        const Serves side = part.kind == Component::Kind::cache ? machine.caches[part.index].serves
                            : part.kind == Component::Kind::tlb ? machine.tlbs[part.index].serves
                                                                : Serves::both;
        return side == Serves::both || side == (fetch ? Serves::fetch : Serves::data);
    };
    for (unsigned core = 0; core < machine.cores; ++core) {
        for (const bool fetch : {false, true}) {
            Downlink* way = nullptr;
            Downlink* tlb_way = nullptr;
            Tlb* tlb = nullptr;
            for (std::size_t id = 0; id < links.size(); ++id) {
                const Component& to = component(links[id].to);
                if (component(links[id].from).kind != Component::Kind::core || !serves(to, fetch)) continue;
                if (to.kind == Component::Kind::tlb) {
                    tlb = tlbs[to.index][copy_for(to, core)].get();
                    tlb_way = downlinks[id][core];
                } else {
                    way = downlinks[id][core];
                }
            }
            if (way != nullptr) path_for(core, fetch, *way, tlb, tlb_way);
        }
    }
}

/// Data and fetches that go the same way share a path.
void Hierarchy::Parts::path_for(unsigned core, bool fetch, Downlink& way, Tlb* tlb, Downlink* tlb_way) {
    CorePath* path = paths_of[core][0];
    if (path == nullptr || &path->link() != &way || path->tlb() != tlb) {
        if (tlb != nullptr && pages.uniform() && tlb->holds(pages.page_bits(0)))
            tlb->be_first_level(pages, pages.page_bits(0));
        paths.push_back(std::make_unique<CorePath>(core, way, tlb, tlb_way, pages));
        path = paths.back().get();
    }
    const Cache* const walked = walkers[core]->below().cache();
    if (walked == nullptr || walked == way.cache()) path->walks_enter_here();
    paths_of[core][fetch ? 1 : 0] = path;
    if (fetch) {
        path->take(ReferenceKind::fetch);
    } else {
        path->take(ReferenceKind::load);
        path->take(ReferenceKind::store);
    }
}

void Hierarchy::Parts::settle() {
    std::uint32_t longest = 0;
    for (const auto& path : paths) longest = std::max(longest, path->line_bytes());
    const bool timeless = std::ranges::all_of(listened, [&](const Downlink* link) { return link->merges(longest); });
    for (const auto& path : paths) path->settle(longest, timeless);
    settled = true;
}

Tick Hierarchy::Parts::inject(unsigned core, Tick time) {
    pending = false;
    Tick lost = 0;
    for (Downlink* link : listened) lost += link->inject(static_cast<std::uint8_t>(core), time);
    return lost;
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

unsigned Hierarchy::copies(std::size_t link) const { return static_cast<unsigned>(parts_->downlinks.at(link).size()); }

void Hierarchy::listen(std::size_t link, unsigned copy, LinkListener& listener) {
    parts_->stop_posting();
    Downlink* downlink = parts_->downlinks.at(link).at(copy);
    downlink->listen(listener, &parts_->pending);
    if (std::ranges::find(parts_->listened, downlink) == parts_->listened.end()) parts_->listened.push_back(downlink);
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
    return parts.pending ? owed + parts.inject(core, now + owed) : owed;
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
            now += complete(core, now);
            const Progress progress = path->run(rest, now, until, parts.pending);
            done += progress.done;
            now = progress.time;
            if (parts.pending) now += parts.inject(core, now);
        }
        stretches = {};  // seldom is there a rest
    }
    if (!parts.background) now += complete(core, now);
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
    return owed + (parts.pending ? parts.inject(core, time) : 0);
}

HierarchyCounts Hierarchy::counts() const {
    parts_->stop_posting();
    HierarchyCounts counts;
    for (const auto& copies : parts_->caches) counts.caches.push_back(sum_of(copies));
    for (const auto& copies : parts_->tlbs) counts.tlbs.push_back(sum_of(copies));
    for (const auto& memory : parts_->memories) counts.memories.push_back(memory->counts());
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
    return digest;
}

Address Hierarchy::virtual_address(Address physical) const { return parts_->pages.virtual_address(physical); }

}  // namespace cachetally
