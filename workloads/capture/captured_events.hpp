// SPDX-License-Identifier: BSD-3-Clause
// What a capture reports besides references: what is mapped where, what is allocated, names that the program gives.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cachetally/reference_source.hpp"
#include "workloads/capture/captured_files.hpp"

namespace cachetally {

/// A block of the heap.
struct Allocation {
    Address base = 0;
    std::uint64_t bytes = 0;
    std::vector<Address> stack;  ///< program counters, innermost first
};

/// How a program ended.
struct ProgramEnd {
    int status = 0;  ///< exit status, or
    int signal = 0;  ///< the signal that ended it
};

/// "the program was ended by signal 9 (Killed)"
std::string ended_by(const ProgramEnd& end);

/// Of one capture, in the order in which they came.
struct CapturedEvents {
    std::vector<MappedFile> files;  ///< all
    CapturedFiles by_era;           ///< the same
    std::vector<Region> regions;    ///< that the program named, and its threads' stacks
    std::vector<Address> functions;
    std::vector<std::string> phase_names;  ///< each once
    std::optional<ProgramEnd> end;
    std::uint64_t dropped = 0;  ///< references that were not recorded
    std::uint64_t threads = 0, forks = 0;
    std::string executed;  ///< the program that took its place; empty: none

    void add(MappedFile file);

    /// Takes a control of ring.h that belongs here; ignores others. Throws TraceError where its words are too few.
    void take(unsigned kind, std::span<const std::uint64_t> words);

    /// The barrier before a phase that the program names: one line of UTF-8, of at most 100 bytes.
    Control phase(std::span<const std::uint64_t> words);
    /// A barrier within it: what follows has its name.
    Control barrier() const { return {Control::Kind::barrier, phase_}; }

    static constexpr std::size_t longest_phase_name = 100;

private:
    std::uint32_t phase_ = 0;
};

}  // namespace cachetally
