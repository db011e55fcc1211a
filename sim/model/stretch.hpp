// SPDX-License-Identifier: BSD-3-Clause
// Stretch: consecutive references that lie within a line each, with what a first-level cache wants to know of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/model/event.hpp"
#include "sim/model/reference.hpp"

namespace cachetally {

/// What lines are found for: of so many bytes, by references of these kinds (or-ed 1 << ReferenceKind).
struct LineWish {
    std::uint32_t line_bytes = 0;  ///< 0: nothing is wished
    unsigned kinds = 0;
    bool sieved = false;  ///< settled references (Sieve) may be left out

    friend bool operator==(const LineWish&, const LineWish&) = default;
};

struct Stretch {
    static constexpr std::size_t most = 512;  ///< references

    /// References by kind.
    struct Kinds {
        std::uint32_t loads = 0, stores = 0, fetches = 0;
    };

    std::span<const Reference> references = {};  ///< none where it is sieved
    std::span<const BlockEvent> lines =
        {};  ///< of each, or each that was kept: its line, by virtual address, and its kind
    Kinds kinds = {};
    std::span<const std::uint8_t> marks = {};  ///< by reference: sieve_mark; where it is sieved
    const Reference* straddling = nullptr;     ///< comes after them; where it is sieved

    std::size_t size() const { return sieved() ? marks.size() : references.size(); }
    bool sieved() const { return references.empty(); }
};

/// The stretch at the beginning of `references`, of at most Stretch::most: up to the first that crosses the border of
/// a line or is of another kind. `lines` has room for as many.
Stretch find_stretch(std::span<const Reference> references, LineWish wish, BlockEvent* lines);

/// All stretches of many references; between them lie the references that belong to none.
class FoundLines {
public:
    /// Forgets what was found, and will find lines for up to `references` references.
    void start(std::size_t references);

    /// Finds the stretches of some more references, which must stay where they are.
    void find(std::span<const Reference> references, LineWish wish);

    std::span<const Stretch> stretches() const { return stretches_; }

private:
    std::vector<BlockEvent> lines_;
    std::vector<Stretch> stretches_;
    std::size_t used_ = 0;  ///< of lines_
};

}  // namespace cachetally
