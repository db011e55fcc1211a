// SPDX-License-Identifier: BSD-3-Clause
#include "advice/survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

namespace cachetally {
namespace {

constexpr unsigned page_bits = 12, granule_bits = 2;
constexpr std::uint64_t page_bytes = 1 << page_bits;
constexpr std::uint64_t segment_gap = 1 << 20;  ///< what is farther apart was mapped apart
constexpr std::uint64_t extent_gap = 1 << 12;   ///< what is farther apart is of several blocks
constexpr std::size_t most_strides = 4, most_extents = 1 << 16, most_stretches = 256;

/// The most frequent distances of one place (Misra and Gries 1982).
class Walk {
public:
    void add(const Reference& reference) {
        const Address up = reference.address - last_, bytes = std::min(up, Address{0} - up);
        last_ = reference.address;
        ++references_;
        if (references_ == 1 || bytes <= reference.size) return;
        for (Stride& stride : strides_)
            if (stride.bytes == bytes || stride.references == 0) {
                stride.bytes = bytes;
                stride.size = reference.size;
                ++stride.references;
                return;
            }
        for (Stride& stride : strides_) --stride.references;
    }
    /// Of at least a quarter of the references.
    template <class Take>
    void frequent(const Take& take) const {
        for (const Stride& stride : strides_)
            if (stride.references * 4 >= references_ && stride.references > 1) take(stride);
    }

private:
    Address last_ = 0;
    std::uint64_t references_ = 0;
    std::array<Stride, 8> strides_{};
};

class Surveyor {
public:
    Surveyor(StructureFinder finder, bool by_site) : by_site_(by_site) {
        result_.finder = std::move(finder);
        for (const std::string& name : result_.finder.names()) {
            SurveyedStructure& structure = result_.structures.emplace_back();
            structure.name = name;
            is_changeable_.push_back(can_be_changed(name));
            is_loose_.push_back(!by_site || name.starts_with("heap:") || name == "(heap)" || name.starts_with("stack"));
        }
        latest_.resize(result_.structures.size());
        sizes_.resize(result_.structures.size());
    }

    void take(const Reference& reference, unsigned core) {
        const std::uint32_t number = result_.finder.find(reference);
        touch(reference,
              number == no_structure ? !by_site_ && reference.kind != ReferenceKind::fetch : is_loose_[number]);
        if (number == no_structure || !is_changeable_[number]) return;
        SurveyedStructure& structure = result_.structures[number];
        ++structure.references;
        ++sizes_[number][reference.size];
        count(structure, latest_[number], reference);
        const std::uint64_t place = std::uint64_t{number} << 32 | reference.site;
        walks_[{place, core << 1 | (reference.kind == ReferenceKind::store ? 1U : 0U)}].add(reference);
    }

    Survey finish(const std::vector<Region>& regions) {
        result_.segments = segments();
        for (const auto& [place, walk] : walks_)
            walk.frequent([&, structure = place.first >> 32](const Stride& stride) { add_stride(structure, stride); });
        for (const Region& region : regions) {
            const std::uint32_t number = result_.finder.number(region.name);
            if (number == no_structure || region.bytes == 0) continue;
            SurveyedStructure& structure = result_.structures[number];
            structure.element_bytes = std::max<std::uint32_t>(region.element_bytes, 1);
            structure.row_elements = region.row_elements;
            structure.extents.push_back({region.base, region.bytes});
        }
        for (std::size_t i = 0; i < result_.structures.size(); ++i) complete(i);
        return std::move(result_);
    }

private:
    struct PlaceHash {
        std::size_t operator()(const std::pair<std::uint64_t, unsigned>& place) const {
            return (place.first * 0x9e3779b97f4a7c15 + place.second) * 0xd6e8feb86659fd93 >> 16;
        }
    };
    /// The page that a structure was touched in last.
    struct Latest {
        Address number = ~Address{0};
        SurveyedStructure::Page* page = nullptr;
    };

    void touch(const Reference& reference, bool loose) {
        for (Address page = reference.address >> page_bits; page <= last_byte(reference) >> page_bits; ++page) {
            if (page == latest_page_ && loose == latest_loose_) continue;
            auto [found, is_new] = pages_.try_emplace(page, loose);
            found->second = found->second && loose;
            latest_page_ = page;
            latest_loose_ = loose;
        }
    }

    static void count(SurveyedStructure& structure, Latest& latest, const Reference& reference) {
        const Address first = reference.address >> granule_bits, last = last_byte(reference) >> granule_bits;
        for (Address granule = first; granule <= last; ++granule) {
            const Address number = granule >> (page_bits - granule_bits);
            if (number != latest.number) latest = {number, &structure.pages[number]};
            const std::size_t place = granule % latest.page->references.size();
            std::uint32_t& references = latest.page->references[place];
            references += references != ~std::uint32_t{0} ? 1 : 0;
            if (granule != last) latest.page->joined[place] = true;
        }
    }

    void add_stride(std::size_t number, const Stride& stride) {
        std::vector<Stride>& all = result_.structures[number].strides;
        const auto known = std::ranges::find(all, stride.bytes, &Stride::bytes);
        if (known == all.end())
            all.push_back(stride);
        else
            *known = {stride.bytes, known->references + stride.references, std::max(known->size, stride.size)};
    }

    std::vector<Segment> segments() const {
        std::vector<std::pair<Address, bool>> sorted(pages_.begin(), pages_.end());
        std::ranges::sort(sorted);
        std::vector<Segment> all;
        for (const auto& [page, loose] : sorted) {
            const Address base = page << page_bits;
            const std::uint64_t unit = loose ? 16 : page_bytes;
            if (!all.empty() && all.back().unit == unit && base - (all.back().base + all.back().bytes) < segment_gap)
                all.back().bytes = base + page_bytes - all.back().base;
            else
                all.push_back({base, page_bytes, unit});
        }
        return all;
    }

    void complete(std::size_t number) {
        SurveyedStructure& structure = result_.structures[number];
        std::ranges::sort(structure.strides, [](const Stride& a, const Stride& b) {
            return a.references != b.references ? a.references > b.references : a.bytes < b.bytes;
        });
        structure.strides.resize(std::min(structure.strides.size(), most_strides));
        std::uint64_t most = 0;
        for (const auto& [size, references] : sizes_[number])
            if (references > most) {
                most = references;
                structure.size = size;
            }
        std::ranges::sort(structure.extents, {}, &Extent::base);
        if (!covers_all(structure)) structure.extents = touched(structure);
        if (structure.extents.size() > most_extents) structure.extents.clear();
    }

    /// Whether the extents are apart, and all that was touched is within.
    static bool covers_all(const SurveyedStructure& structure) {
        const auto meet = [](const Extent& a, const Extent& b) { return b.base - a.base < a.bytes; };
        const std::vector<Extent>& all = structure.extents;
        if (all.empty() || std::ranges::adjacent_find(all, meet) != all.end()) return false;
        auto extent = all.begin();
        for (const auto& [number, page] : structure.pages)
            for (std::size_t i = 0; i < page.references.size(); ++i) {
                if (page.references[i] == 0) continue;
                const Address last = (number << page_bits) + ((i + 1) << granule_bits) - 1;
                while (extent != all.end() && extent->base + (extent->bytes - 1) < align_down(last, 1 << granule_bits))
                    ++extent;
                if (extent == all.end() || last < extent->base) return false;
            }
        return true;
    }

    static std::vector<Extent> touched(const SurveyedStructure& structure) {
        std::vector<Extent> all;
        for (const auto& [number, page] : structure.pages)
            for (std::size_t i = 0; i < page.references.size(); ++i) {
                if (page.references[i] == 0) continue;
                const Address base = (number << page_bits) + (i << granule_bits);
                if (all.empty() || base - (all.back().base + all.back().bytes) >= extent_gap)
                    all.push_back({base, 1 << granule_bits});
                else
                    all.back().bytes = base + (1 << granule_bits) - all.back().base;
            }
        return all;
    }

    Survey result_;
    bool by_site_;
    std::vector<bool> is_loose_, is_changeable_;
    std::vector<Latest> latest_;
    std::vector<std::map<std::uint16_t, std::uint64_t>> sizes_;
    std::unordered_map<std::pair<std::uint64_t, unsigned>, Walk, PlaceHash> walks_;  ///< by structure, site, core, kind
    std::unordered_map<Address, bool> pages_;                                        ///< whether all there is loose
    Address latest_page_ = ~Address{0};
    bool latest_loose_ = false;
};

/// All references of a source, from barrier to barrier.
template <class Take>
void read(ReferenceSource& source, const std::function<bool()>& go_on, const Take& take) {
    std::vector<unsigned> running(source.cores());
    for (unsigned core = 0; core < source.cores(); ++core) running[core] = core;
    while (!running.empty()) {
        std::vector<unsigned> waiting;
        for (const unsigned core : running)
            for (bool goes_on = true; goes_on;) {
                if (!go_on()) throw std::runtime_error("interrupted");
                const Batch batch = source.next(core);
                for (const Reference& reference : batch.references) take(reference, core);
                const Control::Kind kind = batch.control.kind;
                goes_on = kind != Control::Kind::barrier && kind != Control::Kind::meet && kind != Control::Kind::end;
                if (!goes_on && kind != Control::Kind::end) waiting.push_back(core);
            }
        running = std::move(waiting);
    }
}

/// Stretches of memory in place of regions.
std::vector<Region> regions_of(const std::vector<Segment>& segments,
                               const std::function<std::unique_ptr<ReferenceSource>()>& open,
                               const std::function<bool()>& go_on) {
    std::vector<Region> regions;
    for (const Segment& segment : segments)
        if (segment.unit != page_bytes)
            regions.push_back({fmt::format("memory at 0x{:x}", segment.base), segment.base, segment.bytes, 1});
    Surveyor surveyor(StructureFinder(regions), false);
    read(*open(), go_on, [&](const Reference& reference, unsigned core) { surveyor.take(reference, core); });
    const Survey found = surveyor.finish({});
    regions.clear();
    for (const SurveyedStructure& structure : found.structures) {
        std::vector<Extent> extents = structure.extents;
        if (extents.size() > most_stretches)
            extents = {{extents.front().base, extents.back().base + extents.back().bytes - extents.front().base}};
        for (const Extent& extent : extents)
            regions.push_back({fmt::format("memory at 0x{:x}", extent.base), extent.base, extent.bytes, 1});
    }
    return regions;
}

}  // namespace

bool can_be_changed(const std::string& structure) {
    static constexpr std::string_view others[] = {"stack",     "(",      "ld-linux", "libc.so",
                                                  "libstdc++", "libgcc", "libm.so"};
    return std::ranges::none_of(others, [&](std::string_view begin) { return structure.starts_with(begin); });
}

std::uint64_t SurveyedStructure::bytes() const {
    std::uint64_t sum = 0;
    for (const Extent& extent : extents) sum += extent.bytes;
    return sum;
}

std::vector<SurveyedStructure::Use> SurveyedStructure::use_by_granule(std::uint64_t element) const {
    constexpr std::uint64_t granule = 1 << granule_bits;
    const auto is_aligned = [](const Extent& extent) { return extent.base % granule == 0; };
    if (element == 0 || element % granule != 0 || !std::ranges::all_of(extents, is_aligned)) return {};
    std::vector<Use> uses(element / granule);
    auto extent = extents.begin();
    for (const auto& [number, page] : pages)
        for (std::size_t i = 0; i < page.references.size(); ++i) {
            if (page.references[i] == 0) continue;
            const Address address = (number << page_bits) + i * granule;
            while (extent != extents.end() && address >= extent->base && address - extent->base >= extent->bytes)
                ++extent;
            if (extent == extents.end() || address < extent->base) continue;
            Use& use = uses[(address - extent->base) % element / granule];
            use.references += page.references[i];
            use.joined = use.joined || page.joined[i];
        }
    return uses;
}

Survey survey(const std::function<std::unique_ptr<ReferenceSource>()>& open, const std::function<bool()>& go_on) {
    const std::unique_ptr<ReferenceSource> source = open();
    std::vector<Region> regions = source->regions();
    const bool by_site = source->sites() != nullptr;
    Surveyor surveyor(
        by_site ? StructureFinder(*source->sites(), source->site_names().objects) : StructureFinder(regions), by_site);
    read(*source, go_on, [&](const Reference& reference, unsigned core) { surveyor.take(reference, core); });
    if (by_site)  // blocks beside variables
        for (const SiteNames names = source->site_names(); const ObjectBlock& block : names.blocks)
            regions.push_back({names.objects[block.object], block.base, block.bytes, 1});
    Survey found = surveyor.finish(regions);
    if (by_site || !regions.empty()) return found;
    regions = regions_of(found.segments, open, go_on);
    Surveyor by_stretch(StructureFinder(regions), false);
    read(*open(), go_on, [&](const Reference& reference, unsigned core) { by_stretch.take(reference, core); });
    return by_stretch.finish(regions);
}

std::uint64_t count_references(ReferenceSource& source, const std::function<bool()>& go_on) {
    std::uint64_t count = 0;
    read(source, go_on, [&](const Reference&, unsigned) { ++count; });
    return count;
}

}  // namespace cachetally
