// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/capture/captured_code.hpp"

#include <algorithm>

#include "workloads/capture/ring.h"
#include "workloads/traces/byte_stream.hpp"

namespace cachetally {
namespace {

constexpr Address fetch_line = 64;
constexpr std::uint64_t most_left_out = std::uint64_t{1} << 20;  ///< exits between two blocks, in a ring that is whole

Address address_of(std::uint64_t instruction) { return instruction & ((std::uint64_t{1} << 56) - 1); }
std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

[[noreturn]] void refuse() { throw TraceError("the captured program's ring is damaged: a block contradicts itself"); }

}  // namespace

/// The parts of a description.
struct CapturedCode::Block {
    std::span<const std::uint64_t> instructions, data, exits;
};

void CapturedCode::define(std::span<const std::uint64_t> words) {
    if (words.size() < 3) refuse();
    const std::uint64_t first = low(words[1]), exits = high(words[1]);
    const std::uint64_t instructions = low(words[2]), data = high(words[2]);
    const auto rest = words.subspan(3);
    if (rest.size() != instructions + data + exits || first == 0) refuse();
    if (first > exits_.size() + most_left_out || exits > most_left_out) refuse();
    const Block block{rest.first(instructions), rest.subspan(instructions, data), rest.last(exits)};
    for (const std::uint64_t word : block.data)
        if ((word & 0xffff) >= instructions) refuse();
    if (exits_.size() < first + exits) {
        CodeExit none;
        none.data_words = undefined;
        exits_.resize(std::max(first + exits, exits_.size() * 2), none);
    }
    for (std::size_t i = 0; i < exits; ++i) add_exit(block, exits_[first + i], block.exits[i]);
}

void CapturedCode::add_exit(const Block& block, CodeExit& exit, std::uint64_t word) {
    if (low(word) > block.data.size() || high(word) > block.instructions.size()) refuse();
    references_.resize(references_.size() - std::min(references_.size(), slack));
    places_.resize(places_.size() - std::min(places_.size(), slack));
    codes_.resize(places_.size());
    const std::size_t first = references_.size(), first_place = places_.size();
    std::optional<std::size_t> fetched;
    std::size_t next = 0;
    const auto add_data_of = [&](std::size_t instruction) {
        for (; next < low(word) && (block.data[next] & 0xffff) <= instruction; ++next) {
            places_.push_back(static_cast<std::uint32_t>(references_.size() - first));
            codes_.push_back(counters_.number(address_of(block.instructions[block.data[next] & 0xffff])));
            references_.push_back({.site = codes_.back()});
        }
    };
    for (std::size_t i = 0; i < high(word); ++i) {
        if (fetches_ != CapturedFetches::none) add_fetch(block.instructions[i], fetched);
        add_data_of(i);
    }
    if (!block.instructions.empty()) add_data_of(block.instructions.size() - 1);
    if (next != low(word)) refuse();
    exit = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(references_.size() - first),
            static_cast<std::uint32_t>(first_place), low(word)};
    references_.resize(references_.size() + slack);
    places_.resize(places_.size() + slack);
    codes_.resize(places_.size());
}

/// An instruction of the line that was fetched last needs no further fetch: that one is made longer.
void CapturedCode::add_fetch(std::uint64_t instruction, std::optional<std::size_t>& latest) {
    Address address = address_of(instruction);
    const auto length = static_cast<std::uint16_t>(instruction >> 56);
    const std::uint32_t site = counters_.number(address);
    if (fetches_ == CapturedFetches::instructions) {
        if (length != 0) references_.push_back({address, site, length, ReferenceKind::fetch, 0});
        return;
    }
    for (const Address end = address + length; address < end;) {
        const Address part = std::min(end, (address / fetch_line + 1) * fetch_line);
        if (latest && references_[*latest].address / fetch_line == address / fetch_line) {
            Reference& fetch = references_[*latest];
            const Address begin = std::min(fetch.address, address), till = std::max(fetch.address + fetch.size, part);
            fetch.address = begin;
            fetch.size = static_cast<std::uint16_t>(till - begin);
        } else {
            latest = references_.size();
            references_.push_back({address, site, static_cast<std::uint16_t>(part - address), ReferenceKind::fetch, 0});
        }
        address = part;
    }
}

}  // namespace cachetally
