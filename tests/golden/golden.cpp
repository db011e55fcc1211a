// SPDX-License-Identifier: BSD-3-Clause
// Shorthand for golden cases.
#include "tests/golden/golden.hpp"

#include <memory>
#include <sstream>

namespace cachetally::golden {
namespace {

class Recorder final : public LinkListener {
public:
    Recorder(std::string link, std::vector<std::string>& events) : link_(std::move(link)), events_(events) {}
    std::uint32_t kinds() const override { return ~std::uint32_t{0}; }
    bool accepts_merged(std::uint32_t) const override { return false; }
    void on_event(const LinkEvent& event, Injector&) override {
        std::ostringstream text;
        text << link_ << ' ' << to_string(event.kind) << ' ' << std::hex << event.address;
        if (event.kind == EventKind::eviction) text << " by " << event.by;
        events_.push_back(text.str());
    }
    void on_control(const Control&, Tick, Injector&) override {}

private:
    std::string link_;
    std::vector<std::string>& events_;
};

Reference reference(const std::string& word) {
    Reference made;
    made.kind = word.at(0) == 'L'   ? ReferenceKind::load
                : word.at(0) == 'S' ? ReferenceKind::store
                                    : ReferenceKind::fetch;
    made.address = std::stoull(word.substr(1), nullptr, 16);
    const auto colon = word.find(':'), at = word.find('@');
    made.size = static_cast<std::uint16_t>(colon == std::string::npos ? 4 : std::stoul(word.substr(colon + 1)));
    made.site = static_cast<std::uint32_t>(at == std::string::npos ? 0 : std::stoul(word.substr(at + 1)));
    return made;
}

}  // namespace

CacheConfig cache(std::string name, std::string next, unsigned ways, unsigned sets) {
    CacheConfig config;
    config.name = std::move(name);
    config.next = std::move(next);
    config.ways = ways;
    config.size = std::uint64_t{64} * ways * sets;
    return config;
}

MachineDescription machine(std::vector<CacheConfig> caches) {
    MachineDescription description;
    description.name = "golden";
    description.caches = std::move(caches);
    description.memories.emplace_back();
    description.memories.back().latency = 10;
    return description;
}

std::vector<Reference> references(std::string_view text) {
    std::vector<Reference> made;
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) made.push_back(reference(word));
    return made;
}

Result play(const MachineDescription& description, std::string_view text) {
    Result result;
    const Topology topology(description);
    Hierarchy hierarchy(topology);
    std::vector<std::unique_ptr<Recorder>> recorders;
    for (std::size_t link = 0; link < topology.links().size(); ++link) {
        recorders.push_back(std::make_unique<Recorder>(topology.links()[link].name, result.events));
        hierarchy.listen(link, 0, *recorders.back());
    }
    for (const Reference& each : references(text)) result.end = hierarchy.access(0, each, result.end);
    result.counts = hierarchy.counts();
    return result;
}

std::string letters(const Result& result, std::string_view link, std::string_view kind) {
    std::string found;
    const std::string prefix = std::string(link) + " " + std::string(kind) + " ";
    for (const std::string& event : result.events) {
        if (!event.starts_with(prefix)) continue;
        found += static_cast<char>('A' + std::stoull(event.substr(prefix.size()), nullptr, 16) / 64);
    }
    return found;
}

std::string victims(const CacheConfig& config, std::string_view accesses) {
    std::ostringstream text;
    for (const char line : accesses) text << std::hex << 'S' << (line - 'A') * 64 << ' ';
    return letters(play(machine({config}), text.str()), config.name + "-" + config.next, "write_back");
}

}  // namespace cachetally::golden
