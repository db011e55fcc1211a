// SPDX-License-Identifier: BSD-3-Clause
// FunctionSymbols beside libdw, which looks through all symbols, for code of this process.
#include <elfutils/libdwfl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "base/random.hpp"
#include "workloads/capture/function_symbols.hpp"

namespace cachetally {
namespace {

constexpr Dwfl_Callbacks callbacks = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo, nullptr, nullptr};

struct Agreement {
    Random random{1};
    unsigned named = 0, nameless = 0;
};

std::string text(const char* name) { return name == nullptr ? "" : name; }

bool is_code(Dwfl_Module* module, Address address) {
    Dwarf_Addr within = address, bias = 0;
    Elf_Scn* const section = dwfl_module_address_section(module, &within, &bias);
    GElf_Shdr header;
    return section != nullptr && gelf_getshdr(section, &header) != nullptr && (header.sh_flags & SHF_EXECINSTR) != 0;
}

int compare(Dwfl_Module* module, void**, const char* path, Dwarf_Addr begin, void* argument) {
    auto& agreement = *static_cast<Agreement*>(argument);
    Dwarf_Addr end = 0;
    dwfl_module_info(module, nullptr, nullptr, &end, nullptr, nullptr, nullptr, nullptr);
    const FunctionSymbols symbols(module);
    for (int i = 0; i < 1000; ++i) {
        const Address address = begin + agreement.random.below(end - begin);
        if (!is_code(module, address)) continue;
        const std::string expected = text(dwfl_module_addrname(module, address));
        EXPECT_EQ(text(symbols.at(address)), expected) << path << " at " << std::hex << address - begin;
        ++(expected.empty() ? agreement.nameless : agreement.named);
    }
    return DWARF_CB_OK;
}

TEST(FunctionSymbols, AreThoseOfLibdw) {
    const std::unique_ptr<Dwfl, decltype(&dwfl_end)> dwfl(dwfl_begin(&callbacks), &dwfl_end);
    ASSERT_EQ(dwfl_linux_proc_report(dwfl.get(), ::getpid()), 0);
    ASSERT_EQ(dwfl_report_end(dwfl.get(), nullptr, nullptr), 0);
    Agreement agreement;
    dwfl_getmodules(dwfl.get(), compare, &agreement, 0);
    EXPECT_GT(agreement.named, 400U);
    EXPECT_GT(agreement.nameless, 10U);
}

}  // namespace
}  // namespace cachetally
