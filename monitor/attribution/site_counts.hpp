// SPDX-License-Identifier: BSD-3-Clause
// SiteCounts: events by the site that caused them, by phase, and by core where that is asked for; on a link or of
// references.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "cachetally/listener.hpp"

namespace cachetally {

class SiteCounts {
public:
    struct Row {
        std::uint32_t site, phase, core;
        std::uint64_t count;
    };

    /// `cores`: how many are told apart.
    explicit SiteCounts(unsigned cores = 1) : cores_(cores) {}

    /// At least one event.
    void add(std::uint32_t site, std::uint64_t events, unsigned core = 0) {
        if (!counting_.is_on()) return;
        std::size_t place = site;
        if (cores_ > 1) place = place * cores_ + core;
        if (place >= counts_.size()) grow(place);
        std::uint64_t& count = counts_[place];
        if (count == 0) counted_.push_back(place);
        count += events;
    }
    /// One event of each.
    void add_each(std::span<const std::uint32_t> sites, unsigned core);
    void follow(const Control& control) {
        if (control.kind == Control::Kind::barrier) end_phase();
        counting_.follow(control);
    }

    /// Of all phases, the one at hand included; in no order.
    std::vector<Row> rows() const;

private:
    void grow(std::size_t place);
    Row row(std::size_t place, std::uint64_t count) const {
        return {static_cast<std::uint32_t>(place / cores_), phase_, static_cast<std::uint32_t>(place % cores_), count};
    }
    void end_phase();

    Counting counting_;

    unsigned cores_;
    std::uint32_t phase_ = 0;
    std::vector<std::uint64_t> counts_;  ///< of the phase, by site and core
    std::vector<std::size_t> counted_;
    std::vector<Row> rows_;
};

/// Those on one copy of a link.
class SiteMisses final : public LinkListener {
public:
    /// `weight`: what each event counts; `holds`: as in LevelLinks.
    SiteMisses(std::uint32_t kinds, unsigned cores, std::uint64_t weight = 1, std::function<bool(Address)> holds = {})
        : kinds_(kinds), weight_(weight), holds_(std::move(holds)), counts_(cores) {}

    std::uint32_t kinds() const override { return kinds_; }
    bool accepts_untimed() const override { return true; }
    void on_event(const LinkEvent& event, Injector&) override {
        if (!holds_ || holds_(event.address)) counts_.add(event.site, weight_ * event.count, event.core);
    }
    void on_control(const Control& control, Tick, Injector&) override { counts_.follow(control); }
    const SiteCounts& counts() const { return counts_; }

private:
    std::uint32_t kinds_;
    std::uint64_t weight_;
    std::function<bool(Address)> holds_;
    SiteCounts counts_;
};

/// Those of references: one for each line that they touch.
class SiteAccesses final : public ReferenceListener {
public:
    /// Lines of the first levels, of data and of instructions; 0: these are not simulated.
    SiteAccesses(std::uint32_t data_line, std::uint32_t fetch_line, unsigned cores)
        : line_bits_{bits_of(data_line), bits_of(data_line), bits_of(fetch_line)}, counts_(cores) {}

    void on_references(unsigned core, std::span<const Reference> references) override;
    void on_accesses(unsigned core, std::span<const std::uint32_t> sites) override;
    void on_control(const Control& control) override { counts_.follow(control); }
    const SiteCounts& counts() const { return counts_; }

private:
    static constexpr unsigned none = ~0U;
    static unsigned bits_of(std::uint32_t line) { return line == 0 ? none : log2_exact(line); }

    std::array<unsigned, 3> line_bits_;  ///< by kind
    SiteCounts counts_;
};

}  // namespace cachetally
