// SPDX-License-Identifier: BSD-3-Clause
// StructLayout: the fields of the elements of a data structure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace cachetally {

/// Elements follow each other without gaps.
struct StructLayout {
    struct Field {
        std::uint64_t offset = 0;
        std::string name;  ///< "type.field"; of a struct within "type.outer.inner"
        friend bool operator==(const Field&, const Field&) = default;
    };
    std::uint64_t bytes = 0;    ///< of an element
    std::vector<Field> fields;  ///< ascending; each reaches to the next one, the first begins at 0
    friend bool operator==(const StructLayout&, const StructLayout&) = default;
};

/// What the user says of a data structure: a type by its name in DWARF, or the bytes of an element, whose words are its
/// fields then.
struct ElementChoice {
    std::string structure;  ///< its name, or how that begins (without "heap: ")
    std::string type;       ///< empty: only bytes are known
    std::uint64_t bytes = 0;
};

/// Of elements of which only their size is known: words of 8 bytes, "+0", "+8", ...
inline StructLayout layout_of_words(std::uint64_t bytes) {
    StructLayout layout{bytes, {}};
    for (std::uint64_t offset = 0; offset < bytes; offset += 8)
        layout.fields.push_back({offset, std::string("+").append(std::to_string(offset))});
    return layout;
}

}  // namespace cachetally
