// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/capture/program_names.hpp"

#include <cxxabi.h>
#include <elfutils/libdwfl.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <tuple>
#include <utility>

namespace cachetally {
namespace {

int no_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; }

constexpr Dwfl_Callbacks callbacks = {no_file, dwfl_standard_find_debuginfo, dwfl_offline_section_address, nullptr};

std::string demangled(const char* name) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                           &std::free);
    return status == 0 ? text.get() : name;
}

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename(); }

}  // namespace

struct ProgramNames::Files {
    struct End {
        void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
    };
    struct Module {
        Dwfl_Module* module;
        std::string name;
        bool is_program;
    };
    std::unique_ptr<Dwfl, End> dwfl{dwfl_begin(&callbacks)};
    std::vector<Module> modules;
};

/// A file begins where its first byte would lie; the first file is the program.
ProgramNames::ProgramNames(std::span<const MappedFile> files) : files_(std::make_unique<Files>()) {
    if (!files_->dwfl) return;
    std::vector<std::pair<std::string, Address>> begins;
    for (const MappedFile& file : files) {
        const Address begin = file.base - file.offset;
        const auto known = std::ranges::find(begins, file.path, &std::pair<std::string, Address>::first);
        if (known == begins.end()) {
            begins.emplace_back(file.path, begin);
        } else {
            known->second = std::min(known->second, begin);
        }
    }
    dwfl_report_begin(files_->dwfl.get());
    for (const auto& [path, begin] : begins) {
        Dwfl_Module* const module =
            dwfl_report_elf(files_->dwfl.get(), path.c_str(), path.c_str(), -1, begin, /*add_p_vaddr=*/false);
        if (module != nullptr) files_->modules.push_back({module, file_name(path), files_->modules.empty()});
    }
    dwfl_report_end(files_->dwfl.get(), nullptr, nullptr);
}

ProgramNames::~ProgramNames() = default;

CodePlace ProgramNames::place_of(Address counter) const {
    CodePlace place;
    Dwfl_Module* const module = files_->dwfl ? dwfl_addrmodule(files_->dwfl.get(), counter) : nullptr;
    if (module == nullptr) return place;
    const auto known = std::ranges::find(files_->modules, module, &Files::Module::module);
    if (known != files_->modules.end()) place.module = known->name;
    if (const char* const name = dwfl_module_addrname(module, counter)) place.function = demangled(name);
    Dwfl_Line* const line = dwfl_module_getsrc(module, counter);
    int number = 0;
    const char* const file =
        line == nullptr ? nullptr : dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
    if (file != nullptr) {
        place.file = file;
        place.line = static_cast<unsigned>(number);
    }
    return place;
}

std::vector<Region> ProgramNames::variables() const {
    std::vector<Region> all;
    for (const Files::Module& module : files_->modules) {
        Dwarf_Addr begin = 0, end = 0;
        dwfl_module_info(module.module, nullptr, &begin, &end, nullptr, nullptr, nullptr, nullptr);
        const int count = dwfl_module_getsymtab(module.module);
        for (int i = 1; i < count; ++i) {
            GElf_Sym symbol;
            GElf_Addr address = 0;
            GElf_Word section = 0;
            const char* const name =
                dwfl_module_getsym_info(module.module, i, &symbol, &address, &section, nullptr, nullptr);
            if (name == nullptr || *name == '\0' || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size == 0 ||
                section == SHN_UNDEF || address < begin || address >= end)
                continue;
            all.push_back({(module.is_program ? "" : module.name + ":") + demangled(name), address, symbol.st_size, 1});
        }
    }
    // Of names of one place, that of the largest object.
    std::ranges::sort(all, [](const Region& a, const Region& b) {
        return std::tuple(a.base, b.bytes, b.name) < std::tuple(b.base, a.bytes, a.name);
    });
    std::vector<Region> apart;
    for (Region& region : all)
        if (apart.empty() || region.base - apart.back().base >= apart.back().bytes) apart.push_back(std::move(region));
    return apart;
}

}  // namespace cachetally
