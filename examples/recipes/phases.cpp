// SPDX-License-Identifier: BSD-3-Clause
// A listener: phases counts events and stores of each phase of the program; 'most' bounds the rows. Belongs into
// monitor/listeners/; its row is ROW(phases).
#include "monitor/listeners/listener.hpp"

namespace cachetally {
namespace {

class Phases final : public TableListener {
public:
    Phases(const MonitorSpec& spec, std::uint64_t most) : TableListener(spec, KeyMap(spec.unit(), 1)), most_(most) {}

    ListenerTable table() override {
        end_phase(phase());
        return {
            {{"phase", "", "of the program"}, {"events", "events", "on the link"}, {"stores", "events", "of these"}},
            std::move(rows_)};
    }

private:
    void count(const LinkEvent& event) override {
        events_ += event.count;
        if (event.kind == EventKind::store) stores_ += event.count;
    }
    void end_phase(std::uint32_t phase) override {
        if (phase < most_) rows_.push_back({std::to_string(phase), {events_, stores_}, phase});
        events_ = stores_ = 0;
    }

    std::uint64_t most_;
    std::uint64_t events_ = 0, stores_ = 0;
    std::vector<ListenerTable::Row> rows_;
};

}  // namespace

ListenerRow phases_listener() {
    return {"phases",
            "events of each phase",
            {{"most", 100, 1, 1000000, "rows"}},
            [](const MonitorSpec& spec, std::span<const std::uint64_t> values) -> std::unique_ptr<TableListener> {
                return std::make_unique<Phases>(spec, values[0]);
            }};
}

}  // namespace cachetally
