// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/capture/named_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "workloads/capture/captured_code.hpp"
#include "workloads/capture/captured_sites.hpp"
#include "workloads/capture/ring.h"
#include "workloads/capture/site_names.hpp"
#include "workloads/traces/byte_stream.hpp"

namespace cachetally {
namespace {

std::optional<std::uint64_t> parse_address(std::string_view word) {
    const bool is_hexadecimal = word.starts_with("0x");
    if (is_hexadecimal) word.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, is_hexadecimal ? 16 : 10);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return value;
}

/// The structure of a line that has one. Throws TraceError with the column, from 1.
Region structure_of(std::string_view line, const std::string& place) {
    constexpr std::array<std::string_view, 3> meanings = {"an address", "a number of bytes", "the bytes of an element"};
    std::array<std::uint64_t, 3> numbers{};
    std::size_t at = 0;
    const auto next_word = [&] { at = std::min(line.find_first_not_of(" \t", at), line.size()); };
    const auto refuse = [&](const std::string& what) {
        throw TraceError(fmt::format("{}:{}: {}; write ADDRESS BYTES ELEMENT NAME, as in 0x7f0000 80000 8 grid", place,
                                     at + 1, what));
    };
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        next_word();
        const std::string_view word = line.substr(at, line.find_first_of(" \t", at) - at);
        const auto number = parse_address(word);
        if (!number) refuse(fmt::format("'{}' is not {}", shown(word), meanings[i]));
        if (i > 0 && *number == 0) refuse(fmt::format("{} is at least 1", meanings[i]));
        numbers[i] = *number;
        at += word.size();
    }
    if (numbers[0] + (numbers[1] - 1) < numbers[0]) refuse("the structure ends behind the last address");
    if (numbers[2] > numbers[1]) refuse("an element is larger than the structure");
    next_word();
    const std::string_view name = trimmed(line.substr(at));
    if (name.empty()) refuse("the name is missing");
    return {std::string(name), numbers[0], numbers[1], static_cast<std::uint32_t>(numbers[2])};
}

/// Bytes of memory from the file's first byte on, and where that lies if the file says so.
struct Image {
    std::uint64_t bytes = 0;
    std::optional<Address> address;
};

std::optional<Image> image_of(const std::string& path) {
    elf_version(EV_CURRENT);
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return std::nullopt;
    std::optional<Image> image;
    if (Elf* const file = elf_begin(descriptor, ELF_C_READ, nullptr)) {
        GElf_Ehdr header;
        std::size_t count = 0;
        std::optional<Address> begin;
        Address end = 0;
        const bool is_elf = elf_kind(file) == ELF_K_ELF && gelf_getehdr(file, &header) != nullptr;
        if (is_elf && elf_getphdrnum(file, &count) == 0)
            for (std::size_t i = 0; i < count; ++i) {
                GElf_Phdr part;
                if (gelf_getphdr(file, static_cast<int>(i), &part) == nullptr || part.p_type != PT_LOAD) continue;
                if (!begin) begin = part.p_vaddr - part.p_offset;
                end = std::max(end, part.p_vaddr + part.p_memsz);
            }
        if (begin && end > *begin) image = Image{end - *begin, header.e_type == ET_EXEC ? begin : std::nullopt};
        elf_end(file);
    }
    ::close(descriptor);
    return image;
}

class Named final : public NamedSource {
public:
    Named(std::unique_ptr<ReferenceSource> source, std::vector<Region> structures, std::vector<MappedFile> files)
        : source_(std::move(source)), sites_(table_), lanes_(source_->cores()) {
        for (MappedFile& file : files) {
            const std::array<std::uint64_t, 2> words = {file.base, file.bytes};
            events_.add(std::move(file));
            sites_.take(CT_MAPPED, words, events_);
        }
        for (Region& structure : structures) {
            events_.regions.push_back(std::move(structure));
            sites_.take(CT_REGION, {}, events_);
        }
        names_.emplace(events_.files);
    }

    unsigned cores() const override { return source_->cores(); }
    Batch next(unsigned core) override {
        const Batch batch = source_->next(core);
        Lane& lane = lanes_[core];
        lane.references.assign(batch.references.begin(), batch.references.end());
        for (Reference& reference : lane.references) {
            const bool is_fetch = reference.kind == ReferenceKind::fetch;
            if (is_fetch) lane.code = counters_.number_again(reference.address);
            reference.site = is_fetch ? sites_.of_fetch(lane.code) : sites_.of_data(lane.code, reference.address);
        }
        return {lane.references, batch.control};
    }
    std::vector<Region> regions() const override {
        std::vector<Region> all = regions_of(events_, *names_);
        for (Region& region : source_->regions()) all.push_back(std::move(region));
        return all;
    }
    std::vector<std::string> functions() const override { return source_->functions(); }
    std::vector<std::string> phase_names() const override { return source_->phase_names(); }
    const SiteTable* sites() const override { return &table_; }
    SiteNames site_names() const override { return site_names_of(events_, counters_, sites_); }
    double progress() const override { return source_->progress(); }
    std::string function_of(std::uint32_t site) const override {
        const std::uint32_t code = table_.code(site);
        return code == 0 ? "" : names_->place_of(counters_.all()[code]).function;
    }

private:
    struct Lane {
        std::vector<Reference> references;
        std::uint32_t code = 0;  ///< that was fetched last
    };

    std::unique_ptr<ReferenceSource> source_;
    SiteTable table_;
    CapturedEvents events_;
    CapturedSites sites_;
    ProgramCounters counters_;
    std::optional<ProgramNames> names_;
    std::vector<Lane> lanes_;
};

}  // namespace

std::vector<Region> read_structures(const std::string& path) {
    std::ifstream file(path);
    std::vector<Region> all;
    std::string line;
    for (std::size_t number = 1; std::getline(file, line); ++number) {
        const std::string_view text = std::string_view(line).substr(0, line.find('#'));
        if (trimmed(text).empty()) continue;
        const std::string place = fmt::format("{}:{}", path, number);
        Region structure = structure_of(text, place);
        for (const Region& other : all)
            if (other.contains(structure.base) || structure.contains(other.base))
                throw TraceError(
                    fmt::format("{}:1: '{}' and '{}' overlap", place, shown(structure.name), shown(other.name)));
        all.push_back(std::move(structure));
    }
    if (!file.eof()) throw TraceError(fmt::format("{}: cannot be read", path));
    if (all.empty()) throw TraceError(fmt::format("{}: there is no structure; write ADDRESS BYTES ELEMENT NAME", path));
    return all;
}

MappedFile symbol_file(const std::string& text) {
    const std::size_t at = text.rfind("@0x");
    const std::string path = text.substr(0, at);
    std::optional<Address> address;
    if (at != std::string::npos && !(address = parse_address(std::string_view(text).substr(at + 1))))
        throw TraceError(fmt::format("'{}' is no address; write FILE@0x..., of the first byte of the file in memory",
                                     shown(text.substr(at + 1))));
    const auto image = image_of(path);
    if (!image) throw TraceError(fmt::format("{} is no ELF file, such as a program", shown(path)));
    if (!address) address = image->address;
    if (!address)
        throw TraceError(
            fmt::format("{} may lie anywhere in memory; write where, as in {}@0x108000 (valgrind's place for "
                        "programs), or @0x555555554000 (without random addresses)",
                        shown(path), shown(path)));
    return {*address, image->bytes, 0, 0, path};
}

std::unique_ptr<NamedSource> named_source(std::unique_ptr<ReferenceSource> source, std::vector<Region> structures,
                                          std::vector<MappedFile> files) {
    if (source->sites() != nullptr) throw TraceError("the trace has names of its own, of code and data");
    return std::make_unique<Named>(std::move(source), std::move(structures), std::move(files));
}

}  // namespace cachetally
