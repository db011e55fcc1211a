// SPDX-License-Identifier: BSD-3-Clause
// Survey: how a program uses its data structures, from one reading of its references.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cachetally/reference_source.hpp"
#include "workloads/layouts/structures.hpp"

namespace cachetally {

/// A distance between references that one place of the program makes one after the other.
struct Stride {
    std::uint64_t bytes = 0;       ///< up or down
    std::uint64_t references = 0;  ///< so many, about
    std::uint16_t size = 0;        ///< of each, bytes
};

struct SurveyedStructure {
    std::string name;
    std::uint64_t references = 0;     ///< 0 where it cannot be changed, as is all that follows
    std::uint32_t element_bytes = 1;  ///< as the source says; 1: it does not
    std::uint32_t row_elements = 0;   ///< as the source says; 0: it does not, or this is no matrix
    std::vector<Extent> extents;      ///< as the source says, else what was touched; ascending, apart
    std::vector<Stride> strides;      ///< longer than the references; the most frequent first, few of them
    std::uint16_t size = 0;           ///< of most references

    /// By granules of 4 bytes: references, and whether one goes on in the next granule.
    struct Page {
        std::array<std::uint32_t, 1024> references{};
        std::array<bool, 1024> joined{};
    };
    std::map<Address, Page> pages;  ///< of 4 KiB, by number

    std::uint64_t bytes() const;  ///< of all extents

    /// Use of each granule of an element, all elements together; empty where extents are not aligned to granules.
    struct Use {
        std::uint64_t references = 0;
        bool joined = false;
    };
    std::vector<Use> use_by_granule(std::uint64_t element) const;
};

struct Survey {
    StructureFinder finder;
    std::vector<SurveyedStructure> structures;  ///< by the finder's numbers
    std::vector<Segment> segments;
};

/// Whether the program's author can lay it out otherwise: neither a stack nor what has no name, nor of the C library.
bool can_be_changed(const std::string& structure);

/// `open` opens the source anew: three times where nothing in it has a name; stretches of memory then stand for
/// structures. `go_on` is asked now and then. Throws std::runtime_error where the source fails or `go_on` says no.
Survey survey(const std::function<std::unique_ptr<ReferenceSource>()>& open, const std::function<bool()>& go_on);

/// How many references a source has, all streams together. Throws as survey().
std::uint64_t count_references(ReferenceSource& source, const std::function<bool()>& go_on);

}  // namespace cachetally
