// SPDX-License-Identifier: BSD-3-Clause
// SiteCounts: events by the site that caused them and by phase, on a link or of references.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cachetally/listener.hpp"

namespace cachetally {

class SiteCounts {
public:
    struct Row {
        std::uint32_t site, phase;
        std::uint64_t count;
    };

    void add(std::uint32_t site, std::uint64_t events) {
        if (!counting_.is_on()) return;
        if (site >= counts_.size()) grow(site);
        std::uint64_t& count = counts_[site];
        if (count == 0) counted_.push_back(site);
        count += events;
    }
    void follow(const Control& control) {
        if (control.kind == Control::Kind::barrier) end_phase();
        counting_.follow(control);
    }

    /// Of all phases, the one at hand included; in no order.
    std::vector<Row> rows() const;

private:
    void grow(std::uint32_t site);
    void end_phase();

    Counting counting_;

    std::uint32_t phase_ = 0;
    std::vector<std::uint64_t> counts_;  ///< of the phase, by site
    std::vector<std::uint32_t> counted_;
    std::vector<Row> rows_;
};

/// Those on one copy of a link.
class SiteMisses final : public LinkListener {
public:
    explicit SiteMisses(std::uint32_t kinds) : kinds_(kinds) {}

    std::uint32_t kinds() const override { return kinds_; }
    bool accepts_untimed() const override { return true; }
    void on_event(const LinkEvent& event, Injector&) override { counts_.add(event.site, event.count); }
    void on_control(const Control& control, Tick, Injector&) override { counts_.follow(control); }
    const SiteCounts& counts() const { return counts_; }

private:
    std::uint32_t kinds_;
    SiteCounts counts_;
};

/// Those of references: one for each line that they touch.
class SiteAccesses final : public ReferenceListener {
public:
    /// Lines of the first levels, of data and of instructions; 0: these are not simulated.
    SiteAccesses(std::uint32_t data_line, std::uint32_t fetch_line)
        : line_bits_{bits_of(data_line), bits_of(data_line), bits_of(fetch_line)} {}

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
