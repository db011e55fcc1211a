// SPDX-License-Identifier: BSD-3-Clause
// Copying a source into a sink.
#include <algorithm>

#include "workloads/traces/trace_sink.hpp"

namespace cachetally {
namespace {

/// Takes over the names even where a stream throws.
struct TakeTables {
    ReferenceSource& source;
    TraceSink& sink;
    ~TakeTables() {
        sink.set_regions(source.regions());
        sink.set_functions(source.functions());
        if (const SiteTable* const sites = source.sites()) sink.set_sites(*sites, source.site_names());
    }
};

}  // namespace

/// Copies the streams in turns; at a barrier a stream waits for all others, as sources ask for.
ConvertResult convert(ReferenceSource& source, TraceSink& sink, const ConvertOptions& options) {
    enum class State : std::uint8_t { running, waiting, over };
    const TakeTables tables{source, sink};
    std::vector<State> states(source.cores(), State::running);
    std::vector<Reference> kept;
    ConvertResult result;
    const auto copy_batch = [&](unsigned core) {  // false where the copying ends
        const Batch batch = source.next(core);
        auto references = batch.references;
        if (options.data_only) {
            kept.clear();
            std::ranges::copy_if(references, std::back_inserter(kept),
                                 [](const Reference& reference) { return reference.kind != ReferenceKind::fetch; });
            references = kept;
        }
        const std::uint64_t left = options.max_references - result.references;
        const bool full = options.max_references != 0 && references.size() >= left;
        if (full) references = references.first(left);
        sink.append(core, references);
        result.references += references.size();
        if (full) return false;
        sink.append(core, batch.control);
        if (batch.control.kind == Control::Kind::end) states[core] = State::over;
        if (batch.control.kind == Control::Kind::barrier || batch.control.kind == Control::Kind::meet)
            states[core] = State::waiting;
        result.interrupted = options.progress && !options.progress(result.references);
        return !result.interrupted;
    };
    while (std::ranges::any_of(states, [](State state) { return state != State::over; })) {
        for (unsigned core = 0; core < states.size(); ++core)
            if (states[core] == State::running && !copy_batch(core)) return result;
        // Where nobody runs, all that are not over have arrived at the barrier.
        if (std::ranges::find(states, State::running) == states.end())
            std::ranges::replace(states, State::waiting, State::running);
    }
    return result;
}

}  // namespace cachetally
