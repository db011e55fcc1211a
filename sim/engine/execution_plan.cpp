// SPDX-License-Identifier: BSD-3-Clause
// What decides how references are carried out.
#include "cachetally/execution_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/engine/core_pipeline.hpp"
#include "sim/engine/filtered_path.hpp"
#include "sim/engine/hierarchy_parts.hpp"

namespace cachetally {
namespace {

/// Slots that the sets of an array refine: sets are a field of the address from bit `from` on.
unsigned slots_for(const IndexingPolicy& index, unsigned from, unsigned first, unsigned most) {
    if (!index.is_field()) return 1;
    const unsigned end = from + log2_exact(index.sets());
    return end <= first ? 1 : std::min(most, 1U << std::min(end - first, 16U));
}

FilterShape shape_of(const CorePath& path, const PageTable& pages) {
    constexpr unsigned first_slot_bit = 6;
    const Cache& cache = *path.cache();
    FilterShape shape;
    shape.line_bits = log2_exact(cache.line_bytes());
    shape.line_slots = slots_for(cache.indexing(), shape.line_bits, first_slot_bit, FilterShape::most_line_slots);
    shape.retains_all = !cache.repetition_is_plain();
    if (const Tlb* tlb = path.tlb()) {
        shape.page_bits = tlb->entry_bits(pages.page_bits(0));
        shape.page_slots = slots_for(tlb->indexing(), 0, 0, FilterShape::most_page_slots);
        shape.retains_all = shape.retains_all || !tlb->repetition_is_idle();
    }
    return shape;
}

}  // namespace

namespace {

/// "L3 is inclusive (my.yaml:12)".
template <class Config>
std::string sentence(const MachineDescription& machine, const Config& about, const Config& stated_by, const char* what,
                     const char* key) {
    const auto found = stated_by.keys.find(key != nullptr ? key : "");
    const Mark mark = found != stated_by.keys.end() ? found->second : stated_by.mark;
    const std::string place =
        mark.line != 0 && !machine.file.empty() ? fmt::format(" ({}:{})", machine.file, mark.line) : "";
    return fmt::format("{} {}{}", about.name, what, place);
}

template <class Config>
std::string sentence(const MachineDescription& machine, const Config& about, const char* what, const char* key) {
    return sentence(machine, about, about, what, key);
}

/// The first TLB from this one on whose entries depend on frames, so that a whole batch cannot be looked up at once.
const Tlb* first_by_frames(const Tlb* tlb) {
    while (tlb != nullptr && !tlb->coalesces_by_frames()) tlb = tlb->next();
    return tlb;
}

}  // namespace

/// Why the filter's assumptions do not hold for one way; nothing if they do.
std::string Hierarchy::Parts::why_one_by_one(const CorePath& path) const {
    const Cache* const first = path.cache();
    if (first == nullptr) return "there is no cache next to the core";
    for (Cache* cache = path.cache(); cache != nullptr; cache = cache->below().cache()) {
        const CacheConfig& config = cache->config();
        if (cache->is_in_node()) return sentence(machine, config, "is kept coherent", nullptr);
        if (cache == first && config.prefetch.kind != PrefetchKind::none)
            return sentence(machine, config, "has a prefetcher", "prefetch");
        if (cache == first && config.sector != 0)
            return sentence(machine, config, "fetches sectors of lines", "sector");
        if (cache != first && cache->is_next_to_core())
            return sentence(machine, config, "serves cores directly, too", nullptr);
    }
    if (!pages.uniform() || (path.tlb() != nullptr && !path.tlb()->holds(pages.page_bits(0))))
        return "pages have several sizes";
    if (path.tlb() != nullptr && path.tlb()->coalesces_by_frames())
        return sentence(machine, path.tlb()->config(), "coalesces pages", "coalesces");
    return "";
}

std::string Hierarchy::Parts::why_one_by_one(unsigned core) const {
    if (timed) return "links or memories are busy for a time";
    if (!filterable) return "a listener wants each event by itself";
    if (one_by_one) return "what is reported needs each reference by itself";
    const CorePath *const data = paths_of[core][0], *const fetches = paths_of[core][1];
    if (data == nullptr) return "no level serves data";
    if (std::string reason = why_one_by_one(*data); !reason.empty()) return reason;
    if (fetches == nullptr || fetches == data) return "";
    if (std::string reason = why_one_by_one(*fetches); !reason.empty()) return reason;
    if (fetches->cache() == data->cache()) return "fetches and data share a cache but no TLB";
    if (data->tlb() != nullptr && data->tlb() == fetches->tlb()) return "fetches and data share a TLB but no cache";
    return "";
}

/// Why batches end above a level: its requests are made one by one, as is all below. Nothing if it takes batches.
std::string Hierarchy::Parts::why_in_steps(Cache& cache) const {
    const Cache::NotPlain reason = cache.why_not_plain();
    if (reason.what == nullptr) return "";
    Cache* cause = &cache;
    if (reason.of_below) do
            cause = cause->below().cache();
        while (cause->config().inclusion == Inclusion::nine);
    return sentence(machine, cache.config(), cause->config(), reason.what, reason.key);
}

/// The first level of a way that takes no batches; null: all do.
Cache* Hierarchy::Parts::first_in_steps(const CorePath& path) {
    Cache* cache = path.cache();
    while (cache != nullptr && cache->is_plain()) cache = cache->below().cache();
    return cache;
}

/// Why the references of one way, which can be filtered, cannot be batched; nothing if they can.
std::string Hierarchy::Parts::why_not_batched(const CorePath& path) const {
    if (const Tlb* tlb = first_by_frames(path.tlb()))
        return sentence(machine, tlb->config(), "coalesces pages", "coalesces");
    Cache* const in_steps = first_in_steps(path);
    if (in_steps == path.cache()) return why_in_steps(*in_steps);
    const bool indexed_by_pages = path.cache()->config().virtually_indexed;
    for (Cache* cache = path.cache(); cache != nullptr; cache = cache->below().cache()) {
        if (!cache->takes_from_above()) continue;
        // batches are undone as a whole
        if (in_steps != nullptr) return why_in_steps(*in_steps);
        if (!all_merge) return "a listener wants each event below the first levels by itself, with its site";
        if (indexed_by_pages)
            return sentence(machine, path.cache()->config(), cache->config(), "loses lines to an inclusive level below",
                            "inclusion");
    }
    return "";
}

/// Walks go through the first level or beside it, or to memory.
std::string Hierarchy::Parts::why_walks_are_not_batched(unsigned core) const {
    const CorePath *const data = paths_of[core][0], *const fetches = paths_of[core][1];
    Cache* const walked = walkers[core]->below().cache();
    if (data->tlb() == nullptr && (fetches == nullptr || fetches->tlb() == nullptr)) return "";
    if (walked == nullptr || walked == data->cache()) return "";
    if (walked != data->cache()->below().cache()) return "page walks enter below the second level";
    for (Cache* cache = walked; cache != nullptr; cache = cache->below().cache())
        if (cache->takes_from_above())
            return sentence(machine, cache->config(), "is inclusive, and page walks enter below the first level",
                            "inclusion");
    return "";
}

std::string Hierarchy::Parts::why_not_batched(unsigned core) const {
    const CorePath *const data = paths_of[core][0], *const fetches = paths_of[core][1];
    if (std::string reason = why_not_batched(*data); !reason.empty()) return reason;
    if (std::string reason = why_walks_are_not_batched(core); !reason.empty()) return reason;
    if (fetches == nullptr || fetches == data) return "";
    if (std::string reason = why_not_batched(*fetches); !reason.empty()) return reason;
    const RequestPort &below = data->cache()->below(), &below_fetches = fetches->cache()->below();
    if (below.cache() != below_fetches.cache() || below.memory() != below_fetches.memory())
        return "fetches and data meet below the second level";
    if (data->tlb() != nullptr && fetches->tlb() != nullptr && data->tlb()->next() != fetches->tlb()->next())
        return "fetches and data have second TLBs of their own";
    return "";
}

/// Whether requests below the first levels need theirs.
bool Hierarchy::Parts::wants_sites(unsigned core) const {
    for (Cache* cache = paths_of[core][0]->cache(); cache != nullptr; cache = cache->below().cache())
        if (cache->goes_by_site()) return true;
    return !all_merge;
}

ExecutionPlan::Core Hierarchy::Parts::plan_of(unsigned core) const {
    ExecutionPlan::Core decided;
    decided.reason = why_one_by_one(core);
    if (!decided.reason.empty()) return decided;
    const CorePath &data = *paths_of[core][0], *fetches = paths_of[core][1];
    const bool apart = fetches != nullptr && fetches != &data;
    decided.filter.data = shape_of(data, pages);
    if (apart) decided.filter.fetches = shape_of(*fetches, pages);
    decided.filter.way = fetches == nullptr ? FilterPlan::Fetches::nowhere
                         : apart            ? FilterPlan::Fetches::apart
                                            : FilterPlan::Fetches::with_data;
    decided.filter.sites = !reference_listeners.empty() || wants_sites(core);
    decided.reason = why_not_batched(core);
    if (Cache* const in_steps = first_in_steps(data); in_steps != nullptr && decided.reason.empty())
        decided.in_steps = why_in_steps(*in_steps);
    const bool nothing_to_filter = decided.filter.data.retains_all;  // each by itself is quicker then
    decided.execution = decided.reason.empty() ? Execution::batched
                        : nothing_to_filter    ? Execution::one_by_one
                                               : Execution::filtered;
    if (decided.execution >= fastest) return decided;
    decided.in_steps.clear();
    decided.execution = fastest;
    decided.reason = "that was asked for";
    return decided;
}

void Hierarchy::Parts::prepare() {
    for (auto& copies : caches)
        for (auto& cache : copies) cache->prepare();
    std::uint32_t longest = 0;
    for (const auto& path : paths) longest = std::max(longest, path->line_bytes());
    timed = machine.has_link_timing() || numa ||
            !std::ranges::all_of(memories, [](const auto& memory) { return memory->timeless(); });
    all_merge =
        std::ranges::all_of(injections.links(), [&](const RequestPort* link) { return link->merges(longest, timed); });
    filterable = std::ranges::all_of(injections.links(), [&](const RequestPort* link) {
        const bool first = std::ranges::any_of(paths, [&](const auto& path) { return path->has(*link); });
        return first ? link->merges(longest, timed) : link->merges_or_is_untimed(longest, timed);
    });
    only_latencies = !timed && filterable;
    for (RequestPort* link : injections.links()) link->prepare(longest, timed);
    for (const auto& path : paths) path->prepare(longest, timed);
    plan.cores.clear();
    block_paths.clear();
    for (unsigned core = 0; core < machine.cores; ++core) {
        const ExecutionPlan::Core& decided = plan.cores.emplace_back(plan_of(core));
        block_paths.emplace_back();
        if (!decided.takes_blocks()) continue;
        const CorePath &data = *paths_of[core][0], *fetches = paths_of[core][1];
        const CorePort apart = fetches != nullptr && fetches != &data ? fetches->port() : CorePort{};
        const auto number = static_cast<std::uint8_t>(core);
        if (decided.execution == Execution::batched)
            block_paths.back() = std::make_unique<CorePipeline>(number, data.port(), apart, decided.filter,
                                                                *walkers[core], pages, wants_sites(core));
        else
            block_paths.back() = std::make_unique<FilteredPath>(number, data.port(), apart, decided.filter, pages);
    }
    prepared = true;
}

ExecutionPlan execution_plan(Hierarchy& hierarchy, unsigned streams) {
    ExecutionPlan plan = hierarchy.plan();
    plan.cores.resize(std::min<std::size_t>(plan.cores.size(), streams));
    if (streams > 1)
        for (ExecutionPlan::Core& core : plan.cores)
            core = {Execution::one_by_one, "several cores make them, in the order of their times", {}, {}};
    return plan;
}

std::vector<std::string> explain(const ExecutionPlan& plan) {
    std::vector<std::string> texts;
    for (std::size_t first = 0; first < plan.cores.size();) {
        const ExecutionPlan::Core& core = plan.cores[first];
        std::size_t end = first + 1;
        while (end < plan.cores.size() && plan.cores[end].execution == core.execution &&
               plan.cores[end].reason == core.reason)
            ++end;
        const std::string who = plan.cores.size() == 1 ? ""
                                : end == first + 1     ? fmt::format("core {}: ", first)
                                                       : fmt::format("cores {} to {}: ", first, end - 1);
        static constexpr std::string_view ways[] = {"in batches", "filtered, then per reference: ", "per reference: "};
        texts.push_back(fmt::format("{}{}{}", who, ways[static_cast<std::size_t>(core.execution)], core.reason));
        if (!core.in_steps.empty()) texts.back() += fmt::format(", then per request: {}", core.in_steps);
        first = end;
    }
    return texts;
}

}  // namespace cachetally
