// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/attribution/used_bytes.hpp"

#include <algorithm>
#include <bit>

namespace cachetally {
namespace {

constexpr unsigned most_parts = 64;

constexpr std::uint64_t page_entry = 8;

constexpr std::uint32_t asked_for =
    bit(EventKind::load) | bit(EventKind::store) | bit(EventKind::fetch) | bit(EventKind::page_walk);
constexpr std::uint32_t consequences = bit(EventKind::fill) | bit(EventKind::eviction) | bit(EventKind::invalidate);

std::uint32_t bytes_of_part(std::uint32_t line_bytes) { return std::max(1U, line_bytes / most_parts); }

}  // namespace

std::uint64_t line_mask(std::uint64_t offset, std::uint64_t bytes, std::uint32_t line_bytes) {
    const std::uint32_t part = bytes_of_part(line_bytes);
    const std::uint64_t first = offset / part, last = (offset + bytes - 1) / part;
    return ~std::uint64_t{0} >> (most_parts - 1 - (last - first)) << first;
}

class UsedBytes::Copy {
public:
    Copy(std::uint64_t& left, std::uint32_t line_bytes, std::uint32_t span, unsigned cores)
        : left_(left), line_bytes_(line_bytes), span_(span), fills_(cores), used_(cores) {}

    LinkListener& above() { return above_; }
    LinkListener& below() { return below_; }

    std::vector<SiteCounts::Row> rows(bool used) const {
        SiteCounts counts = used ? used_ : fills_;
        for (const auto& [line, state] : lines_) add(state, used ? nullptr : &counts, used ? &counts : nullptr);
        return counts.rows();
    }

private:
    struct Line {
        std::uint64_t mask = 0;
        std::uint32_t site = 0;
        std::uint8_t core = 0;
        bool counted = true;  ///< it came for a reference, while counting was on
    };

    class Side final : public LinkListener {
    public:
        Side(Copy& copy, bool below) : copy_(copy), below_(below) {}
        std::uint32_t kinds() const override { return below_ ? consequences : asked_for; }
        void on_event(const LinkEvent& event, Injector&) override {
            below_ ? copy_.happened(event) : copy_.asked(event);
        }
        void on_control(const Control& control, Tick, Injector&) override {
            if (!below_) return;
            copy_.counting_.follow(control);
            if (control.kind != Control::Kind::barrier) return;
            copy_.fills_.follow(control);
            copy_.used_.follow(control);
        }

    private:
        Copy& copy_;
        bool below_;
    };

    void add(const Line& line, SiteCounts* fills, SiteCounts* used) const {
        if (!line.counted) return;
        if (fills != nullptr) fills->add(line.site, 1, line.core);
        const auto bytes = static_cast<std::uint64_t>(std::popcount(line.mask)) * bytes_of_part(line_bytes_);
        if (used != nullptr && bytes != 0) used->add(line.site, bytes, line.core);
    }

    /// Lines of a reference come in order, so that each takes its part of the bytes. What is not here may come now.
    void asked(const LinkEvent& event) {
        const Address line = align_down(event.address, line_bytes_);
        const std::uint64_t offset = event.address - line;
        const bool walk = event.kind == EventKind::page_walk;
        const std::uint64_t bytes = std::clamp<std::uint64_t>(walk ? page_entry : left_, 1, line_bytes_ - offset);
        if (!walk) left_ -= std::min(left_, bytes);
        const std::uint64_t mask = line_mask(offset, bytes, line_bytes_);
        latest_ = line;
        asked_for_ = {mask, event.site, event.core, !walk};
        if (const auto found = lines_.find(line); found != lines_.end()) found->second.mask |= mask;
    }

    void happened(const LinkEvent& event) {
        const Address address = align_down(event.address, line_bytes_);
        if (event.kind == EventKind::fill) {
            Line& line = lines_[address];
            line = address == latest_ ? asked_for_ : Line{0, event.site, event.core};  // prefetched
            line.counted = line.counted && counting_.is_on();
            latest_ = ~Address{0};
        } else {
            for (Address part = address; part < address + span_; part += line_bytes_) leave(part);
        }
    }

    void leave(Address line) {
        const auto found = lines_.find(line);
        if (found == lines_.end()) return;
        add(found->second, &fills_, &used_);
        lines_.erase(found);
    }

    std::uint64_t& left_;
    std::uint32_t line_bytes_;  ///< that are fetched at once
    std::uint32_t span_;        ///< that leave at once
    Side above_{*this, false}, below_{*this, true};
    std::unordered_map<Address, Line> lines_;
    Address latest_ = ~Address{0};
    Line asked_for_;
    Counting counting_;
    SiteCounts fills_, used_;
};

UsedBytes::UsedBytes(const Topology& topology, Hierarchy& hierarchy, unsigned cores) {
    const std::size_t above = topology.core_link(false), first = topology.links()[above].to;
    const Component& part = topology.components()[first];
    if (part.kind != Component::Kind::cache) return;
    level_ = part.name;
    const CacheConfig& cache = topology.machine().caches[part.index];
    line_bytes_ = cache.transfer();
    for (unsigned copy = 0; copy < part.copies; ++copy)
        copies_.push_back(std::make_unique<Copy>(left_, line_bytes_, cache.line, cores));
    for (std::size_t id = 0; id < topology.links().size(); ++id) {
        const LinkInfo& link = topology.links()[id];
        const bool enters = link.to == first;  // cores and page walkers
        for (unsigned copy = 0; (enters || link.from == first) && copy < hierarchy.copies(id); ++copy)
            hierarchy.listen(id, copy, enters ? copies_[copy / part.cores_per_copy]->above() : copies_[copy]->below());
    }
    hierarchy.listen(*this);
}

UsedBytes::~UsedBytes() = default;

void UsedBytes::before(unsigned, const Reference& reference) { left_ = last_byte(reference) - reference.address + 1; }

std::vector<SiteCounts::Row> UsedBytes::fills() const {
    std::vector<SiteCounts::Row> all;
    for (const auto& copy : copies_)
        for (const SiteCounts::Row& row : copy->rows(false)) all.push_back(row);
    return all;
}

std::vector<SiteCounts::Row> UsedBytes::used() const {
    std::vector<SiteCounts::Row> all;
    for (const auto& copy : copies_)
        for (const SiteCounts::Row& row : copy->rows(true)) all.push_back(row);
    return all;
}

}  // namespace cachetally
