// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/capture/elf_marker.hpp"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <string_view>

namespace cachetally {
namespace {

constexpr std::string_view section_of_runtime = ".note.cachetally";

bool has_section(Elf* file, std::string_view name) {
    std::size_t names = 0;
    if (elf_kind(file) != ELF_K_ELF || elf_getshdrstrndx(file, &names) != 0) return false;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(file, section)) != nullptr;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr) continue;
        const char* const text = elf_strptr(file, names, header.sh_name);
        if (text != nullptr && text == name) return true;
    }
    return false;
}

}  // namespace

bool has_capture_runtime(const std::string& path) {
    elf_version(EV_CURRENT);
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    bool found = false;
    if (Elf* const file = elf_begin(descriptor, ELF_C_READ, nullptr)) {
        found = has_section(file, section_of_runtime);
        elf_end(file);
    }
    ::close(descriptor);
    return found;
}

}  // namespace cachetally
