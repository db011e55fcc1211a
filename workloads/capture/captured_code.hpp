// SPDX-License-Identifier: BSD-3-Clause
// CapturedCode: the code that a captured program runs, as its capture describes it: what each exit of a block makes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "cachetally/reference.hpp"

namespace cachetally {

/// Which instruction fetches are made.
enum class CapturedFetches : std::uint8_t {
    none,
    lines,        ///< one for consecutive instructions of a block in one 64-byte line
    instructions  ///< one for each instruction, as lackey prints them
};

/// What happens until an exit of a block, in program order: fetches, and data references whose words are in the data.
struct CodeExit {
    std::uint32_t first = 0, references = 0;        ///< in CapturedCode::references()
    std::uint32_t first_place = 0, data_words = 0;  ///< in CapturedCode::places() and codes()
    bool is_new = true;                             ///< for the reader: it was not executed yet
};

/// Numbers of program counters, from 1 in the order of their first appearance in each era (CapturedFiles).
class ProgramCounters {
public:
    std::uint32_t number(Address counter) {
        const auto [found, is_new] = numbers_[era_].try_emplace(counter, static_cast<std::uint32_t>(all_.size()));
        if (is_new) {
            all_.push_back(counter);
            eras_.push_back(static_cast<std::uint32_t>(era_));
        }
        return found->second;
    }
    void turn_to_era(std::size_t era) {
        if (era == era_) return;
        era_ = era;
        numbers_.resize(std::max(numbers_.size(), era + 1));
        std::ranges::fill(recent_, Recent());
    }
    /// The same, faster where the same ones come again soon.
    std::uint32_t number_again(Address counter) {
        Recent& recent = recent_[(counter ^ counter >> 12) % recently];
        if (recent.counter != counter) recent = {counter, number(counter)};
        return recent.number;
    }
    /// By number; the first means nothing.
    const std::vector<Address>& all() const { return all_; }
    std::size_t era_of(std::uint32_t number) const { return eras_[number]; }

private:
    std::vector<std::unordered_map<Address, std::uint32_t>> numbers_{{}};  ///< by era
    std::size_t era_ = 0;
    std::vector<Address> all_{0};
    std::vector<std::uint32_t> eras_{0};
    struct Recent {
        Address counter = ~Address{0};
        std::uint32_t number = 0;
    };
    static constexpr std::size_t recently = 4096;  ///< known to the compiler, which else divides
    std::vector<Recent> recent_ = std::vector<Recent>(recently);
};

class CapturedCode {
public:
    explicit CapturedCode(CapturedFetches fetches) : fetches_(fetches) {}

    /// Takes the words of a block (CT_BLOCK of ring.h). Throws TraceError where they contradict themselves.
    void define(std::span<const std::uint64_t> words);

    /// Nothing where there is no such exit.
    CodeExit* exit(std::uint32_t number) {
        return number < exits_.size() && exits_[number].data_words != undefined ? &exits_[number] : nullptr;
    }

    /// Of exits, each with the number of its program counter as its site; data references have no bytes yet.
    Reference* references(const CodeExit& exit) { return references_.data() + exit.first; }
    /// By data word: which of the exit's references it is.
    const std::uint32_t* places(const CodeExit& exit) const { return places_.data() + exit.first_place; }
    /// By data word: the number of its program counter.
    const std::uint32_t* codes(const CodeExit& exit) const { return codes_.data() + exit.first_place; }
    /// So many references, places and codes may be read behind those of an exit.
    static constexpr std::size_t slack = 8;

    ProgramCounters& counters() { return counters_; }
    const ProgramCounters& counters() const { return counters_; }

private:
    static constexpr std::uint32_t undefined = ~std::uint32_t{0};
    struct Block;

    void add_exit(const Block& block, CodeExit& exit, std::uint64_t word);
    void add_fetch(std::uint64_t instruction, std::optional<std::size_t>& latest);

    CapturedFetches fetches_;
    std::vector<CodeExit> exits_;
    std::vector<Reference> references_;
    std::vector<std::uint32_t> places_, codes_;
    ProgramCounters counters_;
};

}  // namespace cachetally
