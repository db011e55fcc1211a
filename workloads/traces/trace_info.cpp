// SPDX-License-Identifier: BSD-3-Clause
// Counting what is in a trace.
#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <unordered_map>

#include "workloads/traces/trace.hpp"

namespace cachetally {
namespace {

/// The 64-byte lines that were touched, as one word of bits per 4 KiB page.
class Footprint {
public:
    void touch(const Reference& reference) {
        const Address last = last_byte(reference) >> 6;
        for (Address line = reference.address >> 6; line <= last; ++line) touch_line(line);
    }
    std::uint64_t pages() const { return lines_of_page_.size(); }
    std::uint64_t lines() const {
        std::uint64_t sum = 0;
        for (const auto& [page, lines] : lines_of_page_) sum += static_cast<std::uint64_t>(std::popcount(lines));
        return sum;
    }

private:
    struct Recent {
        Address page = ~Address{0};
        std::uint64_t* lines = nullptr;  ///< stays valid: elements of the map do not move
    };
    void touch_line(Address line) {
        const Address page = line >> 6;
        Recent& recent = recent_[page % recent_.size()];
        if (recent.page != page) recent = {page, &lines_of_page_[page]};
        *recent.lines |= std::uint64_t{1} << (line & 63);
    }

    std::unordered_map<Address, std::uint64_t> lines_of_page_;
    std::array<Recent, 256> recent_{};
};

/// What streams say at barriers: numbers of names and 1, 0: none.
class PhaseNames {
public:
    void note(std::size_t phase, std::uint32_t name) {
        if (name == 0) return;
        if (phase >= numbers_.size()) numbers_.resize(phase + 1);
        numbers_[phase] = std::max(numbers_[phase], name);
    }
    std::vector<std::string> of(const std::vector<std::string>& names, std::size_t phases) const {
        std::vector<std::string> found(phases);
        for (std::size_t phase = 0; phase < std::min(phases, numbers_.size()); ++phase)
            if (numbers_[phase] != 0 && numbers_[phase] <= names.size()) found[phase] = names[numbers_[phase] - 1];
        return found;
    }

private:
    std::vector<std::uint32_t> numbers_;
};

/// Counts what is in a source, as far as it can be read.
void count(ReferenceSource& source, TraceInfo& info, const TraceProgress& progress) {
    std::array<std::uint64_t, 3> by_kind{};
    Address lowest = ~Address{0}, highest = 0;
    Footprint footprint;
    PhaseNames names;
    std::uint64_t references = 0;
    const auto add = [&](const Reference& reference) {
        ++by_kind[static_cast<std::size_t>(reference.kind)];
        footprint.touch(reference);
        lowest = std::min(lowest, reference.address);
        highest = std::max(highest, last_byte(reference));
    };
    // Traces know no waiting: a stream may be read to its end. False where the reading was stopped.
    const auto read = [&](unsigned core) {
        std::size_t phase = 0;
        for (Control control; control.kind != Control::Kind::end;) {
            const Batch batch = source.next(core);
            control = batch.control;
            std::ranges::for_each(batch.references, add);
            const bool says_something = control.kind != Control::Kind::none && control.kind != Control::Kind::end;
            info.controls += says_something ? 1 : 0;
            info.phases += core == 0 && control.kind == Control::Kind::barrier ? 1 : 0;
            phase += control.kind == Control::Kind::barrier ? 1 : 0;
            if (control.kind == Control::Kind::barrier || control.kind == Control::Kind::meet)
                names.note(phase, control.argument);
            references += batch.references.size();
            if (progress && !progress(references)) return false;
        }
        return true;
    };
    try {
        for (unsigned core = 0; core < source.cores(); ++core)
            if (!read(core)) {
                info.failure = "interrupted";
                break;
            }
    } catch (const std::exception& error) {
        info.failure = error.what();
    }
    info.phase_names = names.of(source.phase_names(), info.phases);
    info.loads = by_kind[0], info.stores = by_kind[1], info.fetches = by_kind[2];
    info.lines = footprint.lines();
    info.pages = footprint.pages();
    if (references > 0) info.lowest = lowest, info.highest = highest;
}

}  // namespace

TraceInfo trace_info(const std::string& path_or_dash, const TraceOptions& options,
                     const std::function<TraceProgress(const ReferenceSource&)>& progress_of) {
    TraceInfo info;
    TraceOptions used = options;
    if (!used.notes) used.notes = std::make_shared<TextNotes>();
    const OpenedTrace opened = open_trace_as(path_or_dash, used);
    info.format = opened.format;
    std::error_code not_a_file;
    if (path_or_dash != "-" && std::filesystem::is_regular_file(path_or_dash, not_a_file))
        info.file_bytes = std::filesystem::file_size(path_or_dash);
    info.complete = opened.incomplete.empty();
    info.incomplete = opened.incomplete;
    info.cores = opened.source->cores();
    info.phases = 1;
    count(*opened.source, info, progress_of ? progress_of(*opened.source) : TraceProgress());
    info.regions = opened.source->regions();
    info.functions = opened.source->functions();
    info.text_lines = used.notes->lines;
    info.skipped_lines = used.notes->skipped;
    return info;
}

}  // namespace cachetally
