// SPDX-License-Identifier: BSD-3-Clause
// FunctionSymbols: the symbol of a file that an address of code belongs to, found in logarithmic time: libdw's
// dwfl_module_addrname, whose choice this is, looks through all symbols for each address.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cachetally/types.hpp"

struct Dwfl_Module;

namespace cachetally {

class FunctionSymbols {
public:
    explicit FunctionSymbols(Dwfl_Module* module);

    /// The symbol that contains the address: global before local, then the one that begins last, then the smallest,
    /// then the first in the file. Else the label (a symbol without size, of assembly) before it, in its section, if no
    /// symbol lies between.
    /// Null where there is neither; as it is in the file, and as long as the module is there.
    const char* at(Address address) const;

private:
    struct Symbol {
        Address base;
        std::uint64_t bytes;
        const char* name;
        unsigned rank;  ///< 0 local, 1 weak, 2 global
        Address end;    ///< of all symbols up to this one
    };
    const Symbol* label_before(Address address) const;

    Dwfl_Module* module_;
    std::vector<Symbol> sized_, labels_;  ///< ascending; of equal begin, the better ones are later
};

}  // namespace cachetally
