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
        touch_line(reference.address >> 6);
        const Address last = (reference.address + (reference.size - 1U)) >> 6;
        for (Address line = (reference.address >> 6) + 1; line <= last; ++line) touch_line(line);
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

class Counter {
public:
    Counter(ReferenceSource& source, TraceInfo& info, TraceProgress progress)
        : source_(source), info_(info), progress_(std::move(progress)), counts_{} {}

    void run() {
        try {
            read();
        } catch (const std::exception& error) {
            info_.failure = error.what();
        }
        info_.loads = counts_[0], info_.stores = counts_[1], info_.fetches = counts_[2];
        info_.lines = footprint_.lines();
        info_.pages = footprint_.pages();
        if (references_ == 0) return;
        info_.lowest = lowest_;
        info_.highest = highest_;
    }

private:
    void read() {
        // Traces know no waiting: streams may be read one after the other.
        for (unsigned core = 0; core < source_.cores(); ++core) {
            for (Control control; control.kind != Control::Kind::end;) {
                const Batch batch = source_.next(core);
                control = batch.control;
                count(batch.references);
                const bool says_something = control.kind != Control::Kind::none && control.kind != Control::Kind::end;
                info_.controls += says_something ? 1 : 0;
                info_.phases += core == 0 && control.kind == Control::Kind::barrier ? 1 : 0;
                references_ += batch.references.size();
                if (!progress_ || progress_(references_)) continue;
                info_.failure = "interrupted";
                return;
            }
        }
    }

    void count(std::span<const Reference> references) {
        for (const Reference& reference : references) {
            ++counts_[static_cast<std::size_t>(reference.kind)];
            footprint_.touch(reference);
            lowest_ = std::min(lowest_, reference.address);
            highest_ = std::max(highest_, reference.address + (reference.size - 1U));
        }
    }

    ReferenceSource& source_;
    TraceInfo& info_;
    TraceProgress progress_;
    std::array<std::uint64_t, 3> counts_;
    std::uint64_t references_ = 0;
    Address lowest_ = ~Address{0}, highest_ = 0;
    Footprint footprint_;
};

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
    Counter(*opened.source, info, progress_of ? progress_of(*opened.source) : TraceProgress()).run();
    info.regions = opened.source->regions();
    info.functions = opened.source->functions();
    info.text_lines = used.notes->lines;
    info.skipped_lines = used.notes->skipped;
    return info;
}

}  // namespace cachetally
