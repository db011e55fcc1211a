// SPDX-License-Identifier: BSD-3-Clause
// Types in debugging information: which fields structs have (elfutils' libdw).
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "cachetally/types.hpp"
#include "workloads/capture/struct_layout.hpp"

namespace cachetally {

/// What a variable consists of. Of an array, its elements.
struct ElementSize {
    std::uint64_t bytes = 0;
    std::uint64_t row = 0;  ///< of a two-dimensional array: elements side by side; else 0
};

/// Of some modules. Unions are one field, and so are arrays but for those of few structs; what lies between fields is
/// "(padding)".
class StructTypes {
public:
    explicit StructTypes(std::span<Dwfl_Module* const> modules);

    /// Of a struct or class ("node", "struct node", "space::node"), or a typedef of one. The first one found.
    std::optional<StructLayout> of_type(const std::string& name) const;

    /// Of the struct, or the array of structs, that a variable at an address is.
    std::optional<StructLayout> of_variable(Address address) const;

    /// Of the variable at an address.
    std::optional<ElementSize> elements_of_variable(Address address) const;

    /// Of the struct that the result of a call points to, which returns to this address: where a variable or parameter
    /// is said to be in the register of results from there on.
    std::optional<StructLayout> of_result(Address return_address) const;

private:
    void walk(Dwarf_Die& die, const std::string& scope, Dwarf_Addr bias);
    void note_variable(Dwarf_Die& die, Dwarf_Addr bias);
    void note_results(Dwarf_Die& die, Dwarf_Addr bias);

    std::map<std::string, Dwarf_Die> types_;
    std::map<Address, Dwarf_Die> variables_;  ///< their types
    std::map<Address, Dwarf_Die> results_;    ///< what they point to, by where they begin to be results
};

}  // namespace cachetally
