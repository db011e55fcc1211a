// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/traces/block.hpp"

#include <algorithm>
#include <utility>

namespace cachetally {

/// A long reference may come around to its own first slots.
void PackedFilter::pass_straddling(const Reference& reference) {
    const Address last = reference.address + (reference.size - 1U);
    const Address first_line = reference.address / line_bytes, last_line = last / line_bytes;
    lines_[first_line % lines] = first_line;
    stored_[first_line % lines] = std::uint64_t{reference.kind == ReferenceKind::store};
    for (Address i = 1; i <= std::min<Address>(last_line - first_line, lines); ++i)
        lines_[(first_line + i) % lines] = none;
    const Address first_page = reference.address / page_bytes, last_page = last / page_bytes;
    pages_[first_page % pages] = first_page;
    for (Address i = 1; i <= std::min<Address>(last_page - first_page, pages); ++i)
        pages_[(first_page + i) % pages] = none;
}

void keep_data_only(ReferenceBlock& block) {
    if (block.data_only) return;
    const auto references = block.references();
    std::size_t kept = 0, read = 0;
    const auto move_up_to = [&](std::size_t end) {
        for (; read < end; ++read) {
            const Reference reference = references[read];
            references[kept] = reference;  // without a branch: kinds are hard to predict
            kept += reference.kind != ReferenceKind::fetch;
        }
    };
    for (auto& placed : block.controls) {
        move_up_to(placed.position);
        placed.position = static_cast<std::uint32_t>(kept);
    }
    move_up_to(references.size());
    block.set_size(kept);
    block.data_only = true;
}

namespace {

void append(FilteredReferences::Accesses& target, const FilteredAccesses& more) {
    target.marks.insert(target.marks.end(), more.marks.begin(), more.marks.end());
    target.retained.insert(target.retained.end(), more.retained.begin(), more.retained.end());
    target.positions.insert(target.positions.end(), more.positions.begin(), more.positions.end());
    target.mark_positions.insert(target.mark_positions.end(), more.mark_positions.begin(), more.mark_positions.end());
    target.retained_sites.insert(target.retained_sites.end(), more.retained_sites.begin(), more.retained_sites.end());
    target.sites.insert(target.sites.end(), more.sites.begin(), more.sites.end());
}

/// Lets the accesses of blocks refer to where they lie, one after the other.
class Places {
public:
    explicit Places(const FilteredReferences::Accesses& accesses) : accesses_(accesses) {}

    void set(FilteredAccesses& of_block) {
        of_block.marks = std::span(accesses_.marks).subspan(mark_, of_block.marks.size());
        of_block.retained = std::span(accesses_.retained).subspan(retained_, of_block.retained.size());
        if (!accesses_.mark_positions.empty()) {
            of_block.mark_positions = std::span(accesses_.mark_positions).subspan(mark_, of_block.marks.size());
            of_block.positions = std::span(accesses_.positions).subspan(retained_, of_block.retained.size());
        }
        if (!accesses_.sites.empty()) {
            of_block.sites = std::span(accesses_.sites).subspan(mark_, of_block.marks.size());
            of_block.retained_sites = std::span(accesses_.retained_sites).subspan(retained_, of_block.retained.size());
        }
        mark_ += of_block.marks.size();
        retained_ += of_block.retained.size();
    }

private:
    const FilteredReferences::Accesses& accesses_;
    std::size_t mark_ = 0, retained_ = 0;
};

}  // namespace

void ReferenceBlock::start_filtering() {
    for (auto* accesses : {&filtered.data, &filtered.fetches}) {
        accesses->marks.clear();
        accesses->retained.clear();
        accesses->positions.clear();
        accesses->mark_positions.clear();
        accesses->retained_sites.clear();
        accesses->sites.clear();
    }
    filtered.blocks.clear();
}

void ReferenceBlock::append_filtered(const ReferenceBlock& piece, RedundancyFilter& filter) {
    const std::span<const Reference> references = piece.references();
    std::size_t done = 0;
    const auto filter_to = [&](std::size_t end) {
        while (done < end) {
            const FilteredBlock block = filter.filter(references.subspan(done, end - done), piece.data_only);
            append(filtered.data, block.data);
            append(filtered.fetches, block.fetches);
            filtered.blocks.push_back(block);
            done += block.references;
        }
    };
    for (const PlacedControl& placed : piece.controls) filter_to(placed.position);
    filter_to(references.size());
}

void ReferenceBlock::add_filtered(const ReferenceBlock& piece, RedundancyFilter& filter) {
    append_filtered(piece, filter);
    for (const PlacedControl& placed : piece.controls)
        controls.push_back({static_cast<std::uint32_t>(size_ + placed.position), placed.control});
    size_ += piece.size();
    last = piece.last;
}

void ReferenceBlock::end_filtering() {
    Places data(filtered.data), fetches(filtered.fetches);
    for (FilteredBlock& block : filtered.blocks) {
        data.set(block.data);
        fetches.set(block.fetches);
    }
    is_filtered = true;
}

void ReferenceBlock::filter(RedundancyFilter& filter) {
    start_filtering();
    append_filtered(*this, filter);
    end_filtering();
}

}  // namespace cachetally
