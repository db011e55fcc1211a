#include "sim/engine/core_path.hpp"

namespace cachetally {
namespace {
constexpr std::uint64_t line_without_cache = 64;
}  // namespace

CorePath::CorePath(unsigned core, Downlink& link, Tlb* tlb, Downlink* tlb_link, PageTable& pages)
    : link_(link),
      tlb_(tlb),
      tlb_link_(tlb_link),
      pages_(pages),
      line_bytes_(link.cache() != nullptr ? link.cache()->line_bytes() : line_without_cache),
      core_(static_cast<std::uint8_t>(core)) {}

void CorePath::settle() {
    const Cache* cache = link_.cache();
    const auto bytes = static_cast<std::uint32_t>(line_bytes_);
    watched_ = link_.kinds() != 0 || (tlb_link_ != nullptr && tlb_link_->kinds() != 0);
    remembers_ = cache != nullptr && (tlb_ == nullptr || tlb_->repeats(false)) && link_.merges(bytes) &&
                 (tlb_link_ == nullptr || tlb_link_->merges(bytes));
    if (cache != nullptr) repeat_latency_ = cache->latency() + (tlb_ != nullptr ? tlb_->latency() : 0);
}

Tick CorePath::access(const Reference& reference, Tick time) {
    const EventKind kind = event_kind(reference.kind);
    const std::uint64_t rest = reference.size > 0 ? reference.size - 1U : 0;
    const Address end = reference.address + rest < rest ? ~Address{0} : reference.address + rest;
    const Address last_line = align_down(end, line_bytes_);
    Address address = reference.address;
    time = access_line(address, kind, reference.site, time);
    while (align_down(address, line_bytes_) != last_line) {
        address = align_down(address, line_bytes_) + line_bytes_;
        time = access_line(address, kind, reference.site, time);
    }
    return time;
}

Tick CorePath::access_line(Address address, EventKind kind, std::uint32_t site, Tick time) {
    if (tlb_ != nullptr) {
        if (tlb_link_->wants(kind)) tlb_link_->notify({address, 1, site, kind, core_, time});
        time = tlb_->translate({address, address, site, kind, core_, time}, pages_.page_bits(address));
    }
    const Address physical = pages_.translate(address);
    last_.disturbed = false;
    const Reply reply = link_.request({physical, address, site, kind, core_, time});
    if (remembers_) remember(address, physical, kind, reply.hit);
    for (CorePath* sibling : siblings_) sibling->last_.forget();
    return reply.time;
}

void CorePath::remember(Address address, Address physical, EventKind kind, bool hit) {
    const Cache& cache = *link_.cache();
    if (last_.disturbed || !cache.loads_repeat(kind, hit) ||
        (tlb_ != nullptr && !tlb_->holds(pages_.page_bits(address)))) {
        last_.forget();
        return;
    }
    last_.line = align_down(address, line_bytes_);
    last_.physical = align_down(physical, line_bytes_);
    last_.store_repeats = cache.stores_repeat(kind, hit);
}

std::size_t CorePath::repeat(std::span<const Reference> references, std::size_t limit, Tick& time) {
    const std::size_t end = std::min(limit, references.size());
    std::array<std::uint32_t, 3> counts{};
    std::size_t done = 0;
    std::uint32_t stores = 0;
    const bool fetches = references.front().kind == ReferenceKind::fetch;
    while (done < end && repeats(references[done]) && (references[done].kind == ReferenceKind::fetch) == fetches) {
        stores += references[done].kind == ReferenceKind::store;
        ++done;
    }
    const auto others = static_cast<std::uint32_t>(done) - stores;
    counts[static_cast<unsigned>(ReferenceKind::load)] = fetches ? 0 : others;
    counts[static_cast<unsigned>(ReferenceKind::store)] = stores;
    counts[static_cast<unsigned>(ReferenceKind::fetch)] = fetches ? others : 0;
    link_.cache()->count_repeats(counts[0], counts[1], counts[2]);
    if (tlb_ != nullptr) tlb_->count_repeats(done);
    if (watched_) tell_repeats(references.front(), counts, time);
    time += done * repeat_latency_;
    return done;
}

void CorePath::tell_repeats(const Reference& first, const std::array<std::uint32_t, 3>& counts, Tick time) {
    for (unsigned kind = 0; kind < counts.size(); ++kind) {
        if (counts[kind] == 0) continue;
        const auto event = static_cast<EventKind>(kind);
        const Address offset = first.address - last_.line;
        link_.notify({last_.physical + offset, counts[kind], first.site, event, core_, time});
        if (tlb_link_ != nullptr) tlb_link_->notify({first.address, counts[kind], first.site, event, core_, time});
    }
}

}  // namespace cachetally
