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
    exit = {};
    exit.data_words = low(word);
    std::optional<std::size_t> fetched;
    std::size_t next = 0;
    const auto add_data_of = [&](std::size_t instruction) {
        for (; next < exit.data_words && (block.data[next] & 0xffff) <= instruction; ++next)
            exit.steps.push_back({0, counters_.number(address_of(block.instructions[block.data[next] & 0xffff])), 0});
    };
    for (std::size_t i = 0; i < high(word); ++i) {
        if (fetches_ != CapturedFetches::none) add_fetch(exit, block.instructions[i], fetched);
        add_data_of(i);
    }
    if (!block.instructions.empty()) add_data_of(block.instructions.size() - 1);
    if (next != exit.data_words) refuse();
}

/// An instruction of the line that was fetched last needs no further fetch: that one is made longer.
void CapturedCode::add_fetch(CodeExit& exit, std::uint64_t instruction, std::optional<std::size_t>& latest) {
    Address address = address_of(instruction);
    const auto length = static_cast<std::uint16_t>(instruction >> 56);
    const std::uint32_t site = counters_.number(address);
    if (fetches_ == CapturedFetches::instructions) {
        if (length != 0) exit.steps.push_back({address, site, length});
        return;
    }
    for (const Address end = address + length; address < end;) {
        const Address part = std::min(end, (address / fetch_line + 1) * fetch_line);
        if (latest && exit.steps[*latest].address / fetch_line == address / fetch_line) {
            ExitStep& step = exit.steps[*latest];
            const Address begin = std::min(step.address, address), till = std::max(step.address + step.bytes, part);
            step.address = begin;
            step.bytes = static_cast<std::uint16_t>(till - begin);
        } else {
            latest = exit.steps.size();
            exit.steps.push_back({address, site, static_cast<std::uint16_t>(part - address)});
        }
        address = part;
    }
}

}  // namespace cachetally
