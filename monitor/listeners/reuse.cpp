// SPDX-License-Identifier: BSD-3-Clause
// reuse: how many other lines are used between two uses of a line. A fully associative LRU cache of N lines hits what
// comes back at a distance below N (Mattson et al. 1970).
#include <fmt/format.h>

#include <array>
#include <bit>
#include <unordered_map>

#include "monitor/listeners/listener.hpp"

namespace cachetally {
namespace {

/// A mark at the time of the last use of each line; distances are sums of marks in a Fenwick tree (Bennett and Kruskal
/// 1975). When time is over, lines get new times in the same order.
class Reuse final : public TableListener {
public:
    explicit Reuse(const MonitorSpec& spec) : TableListener(spec, KeyMap(spec.unit(), 1)), marks_(first_capacity + 1) {}

    ListenerTable table() override {
        ListenerTable table{{{"distance", "lines", "other lines used since the last use of the line"},
                             {"events", "events", "uses at that distance"}},
                            {{"first use", {first_uses_}}}};
        for (std::size_t bucket = 0; bucket < uses_.size(); ++bucket) {
            if (uses_[bucket] == 0) continue;
            const std::uint64_t low = bucket == 0 ? 0 : std::uint64_t{1} << (bucket - 1), high = 2 * low - 1;
            table.rows.push_back(
                {bucket < 2 ? std::to_string(low) : fmt::format("{}-{}", low, high), {uses_[bucket]}, bucket + 1});
        }
        return table;
    }

private:
    static constexpr std::size_t first_capacity = std::size_t{1} << 16;

    void count(const LinkEvent& event) override {
        uses_[0] += event.count - 1;  // the same line again
        if (now_ + 1 == marks_.size()) renumber();
        ++now_;
        const auto [place, is_new] = last_.try_emplace(keys().unit(event.address), now_);
        if (is_new) {
            ++first_uses_;
        } else {
            const std::uint64_t since = last_.size() - marked_until(place->second);
            ++uses_[static_cast<std::size_t>(std::bit_width(since))];
            mark(place->second, ~std::uint64_t{0});
            place->second = now_;
        }
        mark(now_, 1);
    }
    void end_phase(std::uint32_t) override {}  // distances go on across barriers

    std::uint64_t marked_until(std::size_t time) const {
        std::uint64_t sum = 0;
        for (; time != 0; time &= time - 1) sum += marks_[time];
        return sum;
    }
    /// `change` modulo 2^64.
    void mark(std::size_t time, std::uint64_t change) {
        for (; time < marks_.size(); time += time & (~time + 1)) marks_[time] += change;
    }

    void renumber() {
        std::vector<std::uint64_t> lines(marks_.size(), none);
        for (const auto& [line, time] : last_) lines[time] = line;
        marks_.assign(std::max(marks_.size(), 2 * last_.size() + 1), 0);
        now_ = 0;
        for (const std::uint64_t line : lines) {
            if (line == none) continue;
            last_[line] = ++now_;
            mark(now_, 1);
        }
    }

    static constexpr std::uint64_t none = ~std::uint64_t{0};  // no unit has this number: units are of 8 bytes at least
    std::unordered_map<std::uint64_t, std::size_t> last_;     ///< line to time of its last use, from 1
    std::vector<std::uint64_t> marks_;
    std::size_t now_ = 0;
    std::uint64_t first_uses_ = 0;
    std::array<std::uint64_t, 65> uses_{};  ///< by bits of the distance
};

}  // namespace

ListenerRow reuse_listener() {
    return {"reuse", "reuse distances, in lines", {}, [](const MonitorSpec& spec, std::span<const std::uint64_t>) {
                return std::unique_ptr<TableListener>(std::make_unique<Reuse>(spec));
            }};
}

}  // namespace cachetally
