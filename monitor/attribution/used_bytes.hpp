// SPDX-License-Identifier: BSD-3-Clause
// UsedBytes: how much of the lines that come into the first level of data is used, by the site that fetched them
// (ours).
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cachetally/hierarchy.hpp"
#include "cachetally/topology.hpp"
#include "monitor/attribution/site_counts.hpp"

namespace cachetally {

/// A line counts when it leaves, or at the end of the run, in the phase of then; lines that page walks bring are left
/// out. Bytes are told apart one by one; in lines of more than 64 bytes, in 64 equal parts.
class UsedBytes final : public ReferenceListener {
public:
    /// To be made before the first access; must live as long as the hierarchy is used. `cores`: told apart.
    UsedBytes(const Topology& topology, Hierarchy& hierarchy, unsigned cores);
    ~UsedBytes() override;

    const std::string& level() const { return level_; }  ///< empty where no cache serves data
    std::uint32_t line_bytes() const { return line_bytes_; }

    /// Lines, and their bytes that were used.
    std::vector<SiteCounts::Row> fills() const;
    std::vector<SiteCounts::Row> used() const;

    bool one_by_one() const override { return true; }
    void on_references(unsigned, std::span<const Reference>) override {}
    void on_accesses(unsigned, std::span<const std::uint32_t>) override {}
    void before(unsigned core, const Reference& reference) override;
    void on_control(const Control&) override {}

private:
    /// One copy of the cache.
    class Copy;

    std::string level_;
    std::uint32_t line_bytes_ = 0;
    std::uint64_t left_ = 0;  ///< bytes of the reference at hand that were not looked at yet
    std::vector<std::unique_ptr<Copy>> copies_;
};

/// Bytes of a line as bits: `bytes` from `offset` on.
std::uint64_t line_mask(std::uint64_t offset, std::uint64_t bytes, std::uint32_t line_bytes);

}  // namespace cachetally
