// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/capture/function_symbols.hpp"

#include <elfutils/libdwfl.h>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace cachetally {
namespace {

Elf_Scn* section_of(Dwfl_Module* module, Address address) {
    Dwarf_Addr within = address, bias = 0;
    return dwfl_module_address_section(module, &within, &bias);
}

}  // namespace

FunctionSymbols::FunctionSymbols(Dwfl_Module* module) : module_(module) {
    const int count = dwfl_module_getsymtab(module);
    for (int i = count - 1; i > 0; --i) {
        GElf_Sym symbol;
        GElf_Addr address = 0;
        GElf_Word section = 0;
        const char* const name = dwfl_module_getsym_info(module, i, &symbol, &address, &section, nullptr, nullptr);
        const int type = GELF_ST_TYPE(symbol.st_info);
        if (name == nullptr || *name == '\0' || section == SHN_UNDEF || type == STT_SECTION || type == STT_FILE ||
            type == STT_TLS)
            continue;
        const int binding = GELF_ST_BIND(symbol.st_info);
        const auto rank = binding == STB_LOCAL ? 0U : binding == STB_WEAK ? 1U : 2U;
        (symbol.st_size != 0 ? sized_ : labels_).push_back({address, symbol.st_size, name, rank, 0});
    }
    for (std::vector<Symbol>* const symbols : {&sized_, &labels_}) {
        std::ranges::stable_sort(*symbols, [](const Symbol& a, const Symbol& b) {
            return std::tuple(a.base, a.rank, b.bytes) < std::tuple(b.base, b.rank, a.bytes);
        });
        Address end = 0;
        for (Symbol& symbol : *symbols) symbol.end = end = std::max(end, symbol.base + symbol.bytes);
    }
}

const char* FunctionSymbols::at(Address address) const {
    const Symbol* best = nullptr;
    auto next = std::ranges::upper_bound(sized_, address, {}, &Symbol::base);
    const Address covered = next == sized_.begin() ? 0 : std::prev(next)->end;
    while (next != sized_.begin() && (--next)->end > address && (best == nullptr || best->rank == 0))
        if (address - next->base < next->bytes && (best == nullptr || next->rank != 0)) best = &*next;
    if (best == nullptr) best = label_before(address);
    return best != nullptr && (best->bytes != 0 || best->base >= covered) ? best->name : nullptr;
}

const FunctionSymbols::Symbol* FunctionSymbols::label_before(Address address) const {
    const auto next = std::ranges::upper_bound(labels_, address, {}, &Symbol::base);
    if (next == labels_.begin()) return nullptr;
    const Symbol& label = *std::prev(next);
    Elf_Scn* const section = section_of(module_, address);
    return section != nullptr && section == section_of(module_, label.base) ? &label : nullptr;
}

}  // namespace cachetally
