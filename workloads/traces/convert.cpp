// SPDX-License-Identifier: BSD-3-Clause
// Copying a source into a packed trace.
#include <algorithm>

#include "workloads/traces/packed_writer.hpp"

namespace cachetally {
namespace {

/// Copies the streams in turns; at a barrier a stream waits for all others, as sources ask for.
class Converter {
public:
    Converter(ReferenceSource& source, PackedTraceWriter& writer, const ConvertOptions& options)
        : source_(source), writer_(writer), options_(options), states_(source.cores(), State::running) {}

    ConvertResult run() {
        while (step()) {
        }
        return result_;
    }

private:
    enum class State : std::uint8_t { running, waiting, over };

    /// One batch of every stream that runs; false at the end.
    bool step() {
        bool any = false;
        for (unsigned core = 0; core < states_.size(); ++core) {
            if (states_[core] != State::running) continue;
            any = true;
            if (!copy_batch(core)) return false;
        }
        if (any) return true;
        // Nobody runs: all that are not over have arrived at the barrier.
        const bool waiting = std::find(states_.begin(), states_.end(), State::waiting) != states_.end();
        std::replace(states_.begin(), states_.end(), State::waiting, State::running);
        return waiting;
    }

    bool copy_batch(unsigned core) {
        const Batch batch = source_.next(core);
        auto references = batch.references;
        if (options_.data_only) references = without_fetches(references);
        bool full = false;
        if (options_.max_references != 0) {
            const std::uint64_t left = options_.max_references - result_.references;
            full = references.size() >= left;
            references = references.first(std::min<std::uint64_t>(references.size(), left));
        }
        writer_.append(core, references);
        result_.references += references.size();
        if (full) return false;
        writer_.append(core, batch.control);
        if (batch.control.kind == Control::Kind::end) states_[core] = State::over;
        if (batch.control.kind == Control::Kind::barrier) states_[core] = State::waiting;
        result_.interrupted = options_.progress && !options_.progress(result_.references);
        return !result_.interrupted;
    }

    std::span<const Reference> without_fetches(std::span<const Reference> references) {
        kept_.clear();
        std::copy_if(references.begin(), references.end(), std::back_inserter(kept_),
                     [](const Reference& reference) { return reference.kind != ReferenceKind::fetch; });
        return kept_;
    }

    ReferenceSource& source_;
    PackedTraceWriter& writer_;
    const ConvertOptions& options_;
    std::vector<State> states_;
    std::vector<Reference> kept_;
    ConvertResult result_;
};

/// Takes over the names even where a stream throws.
struct TakeTables {
    ReferenceSource& source;
    PackedTraceWriter& writer;
    ~TakeTables() {
        writer.set_regions(source.regions());
        writer.set_functions(source.functions());
    }
};

}  // namespace

ConvertResult convert(ReferenceSource& source, PackedTraceWriter& writer, const ConvertOptions& options) {
    const TakeTables tables{source, writer};
    return Converter(source, writer, options).run();
}

}  // namespace cachetally
