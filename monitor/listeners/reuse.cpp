// SPDX-License-Identifier: BSD-3-Clause
// reuse: how many other lines are used between two uses of a line. A fully associative LRU cache of N lines hits what
// comes back at a distance below N (Mattson et al. 1970).
#include <fmt/format.h>

#include <array>
#include <bit>

#include "monitor/listeners/listener.hpp"
#include "monitor/stack_distances.hpp"

namespace cachetally {
namespace {

class Reuse final : public TableListener {
public:
    explicit Reuse(const MonitorSpec& spec) : TableListener(spec, KeyMap(spec.unit(), 1)) {}

    ListenerTable table() override {
        ListenerTable table{{{"distance", "lines", "other lines used since the last use of the line"},
                             {"events", "events", "uses at that distance"}},
                            {{"first use", {distances_.size()}}}};
        for (std::size_t bucket = 0; bucket < uses_.size(); ++bucket) {
            if (uses_[bucket] == 0) continue;
            const std::uint64_t low = bucket == 0 ? 0 : std::uint64_t{1} << (bucket - 1), high = 2 * low - 1;
            table.rows.push_back(
                {bucket < 2 ? std::to_string(low) : fmt::format("{}-{}", low, high), {uses_[bucket]}, bucket + 1});
        }
        return table;
    }

private:
    void count(const LinkEvent& event) override {
        uses_[0] += event.count - 1;  // the same line again
        const std::uint64_t distance = distances_.use(keys().unit(event.address));
        if (distance != StackDistances::first_use) ++uses_[static_cast<std::size_t>(std::bit_width(distance))];
    }
    void end_phase(std::uint32_t) override {}  // distances go on across barriers

    StackDistances distances_;
    std::array<std::uint64_t, 65> uses_{};  ///< by bits of the distance
};

}  // namespace

ListenerRow reuse_listener() {
    return {"reuse", "reuse distances, in lines", {}, [](const MonitorSpec& spec, std::span<const std::uint64_t>) {
                return std::unique_ptr<TableListener>(std::make_unique<Reuse>(spec));
            }};
}

}  // namespace cachetally
