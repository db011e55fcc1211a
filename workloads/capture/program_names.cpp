// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/capture/program_names.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "workloads/capture/function_symbols.hpp"
#include "workloads/capture/struct_types.hpp"

namespace cachetally {
namespace {

int no_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; }

constexpr Dwfl_Callbacks callbacks = {no_file, dwfl_standard_find_debuginfo, dwfl_offline_section_address, nullptr};

/// Other names than C++'s are as they are: "i" would be demangled as a type, to "int". Linkers may write the version of
/// a symbol behind its name: "_ZSt4cout@GLIBCXX_3.4".
std::string demangled(const char* name) {
    if (std::string_view(name).substr(0, 2) != "_Z") return name;
    const std::string symbol(name, std::strcspn(name, "@"));
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 ? text.get() : name;
}

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename(); }

}  // namespace

struct ProgramNames::Files {
    struct Unit {
        Address begin, end, bias;
        Dwarf_Die* die;
    };
    struct End {
        void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
    };
    struct Module {
        Dwfl_Module* module;
        std::string name;
        bool is_program;
        bool is_whole;  ///< else a piece of code alone is mapped (the tool's own, where signals return to)
        std::optional<std::vector<Unit>> units = {};  ///< ascending; once they were asked for
        std::optional<FunctionSymbols> symbols = {};  ///< once they were asked for
    };
    Module* at(Address address) {
        Dwfl_Module* const module = dwfl ? dwfl_addrmodule(dwfl.get(), address) : nullptr;
        const auto known = std::ranges::find(modules, module, &Module::module);
        return module == nullptr || known == modules.end() ? nullptr : &*known;
    }
    static const Unit* unit_at(Module& module, Address counter);
    static void find_line(Module& module, CodePlace& place);
    static void find_call(Module& module, CodePlace& place);
    const StructTypes& types() {
        if (!types_read) {
            std::vector<Dwfl_Module*> all;
            for (const Module& module : modules) all.push_back(module.module);
            types_read.emplace(all);
        }
        return *types_read;
    }
    std::unique_ptr<Dwfl, End> dwfl{dwfl_begin(&callbacks)};
    std::vector<Module> modules;
    std::optional<StructTypes> types_read;
};

namespace {

/// Ranges of code of a module's compilation units.
template <class Unit>
std::vector<Unit> units_of(Dwfl_Module* module) {
    std::vector<Unit> units;
    Dwarf_Addr bias = 0;
    for (Dwarf_Die* unit = dwfl_module_nextcu(module, nullptr, &bias); unit != nullptr;
         unit = dwfl_module_nextcu(module, unit, &bias)) {
        Dwarf_Addr base = 0, begin = 0, end = 0;
        for (ptrdiff_t next = 0; (next = dwarf_ranges(unit, next, &base, &begin, &end)) > 0;)
            if (begin < end) units.push_back({begin + bias, end + bias, bias, unit});
    }
    std::ranges::sort(units, {}, &Unit::begin);
    return units;
}

/// Finds the outermost call that was inlined at an address.
bool find_inlined(Dwarf_Die& die, Dwarf_Addr address, Dwarf_Die& call) {
    if (dwarf_child(&die, &call) != 0) return false;
    do {
        const int tag = dwarf_tag(&call);
        if (tag != DW_TAG_namespace && dwarf_haspc(&call, address) != 1) continue;
        if (tag == DW_TAG_inlined_subroutine) return true;
        Dwarf_Die within = call;
        if (find_inlined(within, address, call)) return true;
        call = within;
    } while (dwarf_siblingof(&call, &call) == 0);
    return false;
}

}  // namespace

const ProgramNames::Files::Unit* ProgramNames::Files::unit_at(Module& module, Address counter) {
    if (!module.units) module.units = units_of<Unit>(module.module);
    const auto after = std::ranges::upper_bound(*module.units, counter, {}, &Unit::begin);
    return after != module.units->begin() && counter < std::prev(after)->end ? &*std::prev(after) : nullptr;
}

/// Not all compilers (clang) write the table that finds the unit of an address: then the units' ranges do.
void ProgramNames::Files::find_line(Module& module, CodePlace& place) {
    if (Dwfl_Line* const line = dwfl_module_getsrc(module.module, place.counter)) {
        int number = 0;
        const char* const file = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
        if (file != nullptr) place.file = file, place.line = static_cast<std::uint32_t>(number);
        return;
    }
    const Unit* const unit = unit_at(module, place.counter);
    if (unit == nullptr) return;
    Dwarf_Line* const line = dwarf_getsrc_die(unit->die, place.counter - unit->bias);
    const char* const file = line == nullptr ? nullptr : dwarf_linesrc(line, nullptr, nullptr);
    int number = 0;
    if (file != nullptr && dwarf_lineno(line, &number) == 0)
        place.file = file, place.line = static_cast<std::uint32_t>(number);
}

/// Of inlined code, the line of the function around it.
void ProgramNames::Files::find_call(Module& module, CodePlace& place) {
    const Unit* const unit = unit_at(module, place.counter);
    Dwarf_Die call;
    if (unit == nullptr || !find_inlined(*unit->die, place.counter - unit->bias, call)) return;
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0;
    Dwarf_Files* files = nullptr;
    if (dwarf_formudata(dwarf_attr(&call, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(&call, DW_AT_call_line, &attribute), &line) != 0 ||
        dwarf_getsrcfiles(unit->die, &files, nullptr) != 0)
        return;
    if (const char* const name = dwarf_filesrc(files, file, nullptr, nullptr))
        place.file = name, place.line = static_cast<std::uint32_t>(line);
}

/// A file begins where its first byte would lie; the first file is the program.
ProgramNames::ProgramNames(std::span<const MappedFile> files, bool with_program) : files_(std::make_unique<Files>()) {
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
    const auto is_whole = [&](const std::string& path) {
        return std::ranges::any_of(files, [&](const MappedFile& file) {
            return file.path == path && (file.offset == 0 || (file.protection & 1) == 0);
        });
    };
    dwfl_report_begin(files_->dwfl.get());
    for (const auto& [path, begin] : begins) {
        Dwfl_Module* const module =
            dwfl_report_elf(files_->dwfl.get(), path.c_str(), path.c_str(), -1, begin, /*add_p_vaddr=*/false);
        if (module != nullptr)
            files_->modules.push_back(
                {module, file_name(path), with_program && files_->modules.empty(), is_whole(path)});
    }
    dwfl_report_end(files_->dwfl.get(), nullptr, nullptr);
}

ProgramNames::~ProgramNames() = default;

CodePlace ProgramNames::place_of(Address counter) const {
    CodePlace place;
    place.counter = counter;
    Files::Module* const module = files_->at(counter);
    if (module == nullptr) return place;
    place.module = module->name;
    if (!module->symbols) module->symbols.emplace(module->module);
    if (const char* const name = module->symbols->at(counter)) place.function = demangled(name);
    Files::find_line(*module, place);
    return place;
}

std::string ProgramNames::describe(Address counter) const {
    CodePlace place = place_of(counter);
    Files::Module* const module = files_->at(counter);
    if (module != nullptr) Files::find_call(*module, place);
    if (!place.function.empty() && !place.file.empty())
        return fmt::format("{} {}:{}", place.function, file_name(place.file), place.line);
    if (!place.function.empty()) return fmt::format("{} {}", place.function, place.module);
    if (module == nullptr) return fmt::format("{:#x}", counter);
    Dwarf_Addr begin = 0;
    dwfl_module_info(module->module, nullptr, &begin, nullptr, nullptr, nullptr, nullptr, nullptr);
    return fmt::format("{}+{:#x}", place.module, counter - begin);
}

namespace {

/// Calls `take` for the symbols of a type: their names, addresses and sizes.
template <class Take>
void each_symbol(Dwfl_Module* module, int type, Take take) {
    Dwarf_Addr begin = 0, end = 0;
    dwfl_module_info(module, nullptr, &begin, &end, nullptr, nullptr, nullptr, nullptr);
    const int count = dwfl_module_getsymtab(module);
    for (int i = 1; i < count; ++i) {
        GElf_Sym symbol;
        GElf_Addr address = 0;
        GElf_Word section = 0;
        const char* const name = dwfl_module_getsym_info(module, i, &symbol, &address, &section, nullptr, nullptr);
        if (name == nullptr || *name == '\0' || GELF_ST_TYPE(symbol.st_info) != type || symbol.st_size == 0 ||
            section == SHN_UNDEF || address < begin || address >= end)
            continue;
        take(demangled(name), address, symbol.st_size);
    }
}

}  // namespace

std::vector<std::string> ProgramNames::functions() const {
    std::vector<std::string> all;
    for (const Files::Module& module : files_->modules)
        each_symbol(module.module, STT_FUNC, [&](std::string name, Address, std::uint64_t) { all.push_back(name); });
    return all;
}

std::optional<StructLayout> ProgramNames::layout_of_variable(Address address) const {
    return files_->types().of_variable(address);
}

std::optional<StructLayout> ProgramNames::layout_of_result(Address return_address) const {
    return files_->types().of_result(return_address);
}

std::optional<StructLayout> ProgramNames::layout_of_type(const std::string& name) const {
    return files_->types().of_type(name);
}

void ProgramNames::set_elements(Region& variable) const {
    const auto elements = files_->types().elements_of_variable(variable.base);
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    if (!elements || elements->bytes > most || variable.bytes % elements->bytes != 0) return;
    variable.element_bytes = static_cast<std::uint32_t>(elements->bytes);
    const std::uint64_t count = variable.bytes / elements->bytes;
    if (elements->row != 0 && elements->row <= most && count % elements->row == 0)
        variable.row_elements = static_cast<std::uint32_t>(elements->row);
}

std::vector<Region> ProgramNames::variables() const {
    std::vector<Region> all;
    for (const Files::Module& module : files_->modules)
        if (module.is_whole)
            each_symbol(module.module, STT_OBJECT, [&](const std::string& name, Address address, std::uint64_t bytes) {
                all.push_back({(module.is_program ? "" : module.name + ":") + name, address, bytes, 1});
            });
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
