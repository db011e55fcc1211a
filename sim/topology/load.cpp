// SPDX-License-Identifier: BSD-3-Clause
// Where machines come from: the presets that are built in, and files.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/text.hpp"
#include "cachetally/topology.hpp"
#include "sim/topology/host_machine.hpp"
#include "sim/topology/presets.hpp"
#include "sim/topology/yaml_document.hpp"

namespace cachetally {
namespace {

[[noreturn]] void refuse_file(const std::string& path, int error) {
    std::vector<std::string_view> known;
    for (const PresetText& preset : preset_texts()) known.push_back(preset.name);
    throw MachineError(path, {{{},
                               std::string("this is no preset, and cannot be read as a machine file: ") +
                                   std::strerror(error) + advice(path, known)}});
}

/// At most one byte more than a machine file may have, so that endless files end too.
std::string read_beginning(const std::string& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse_file(path, errno);
    std::string text(largest_machine_file + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad() || (file.gcount() == 0 && errno != 0)) refuse_file(path, errno);
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

}  // namespace

MachineDescription load_machine(const std::string& name_or_path) {
    for (const PresetText& preset : preset_texts())
        if (preset.name == name_or_path) return read_machine(std::string(preset.text), name_or_path);
    if (name_or_path == "host") return read_machine(host_machine_file(), name_or_path);
    MachineDescription machine = read_machine(read_beginning(name_or_path), name_or_path);
    if (machine.name.empty()) machine.name = std::filesystem::path(name_or_path).stem().string();
    return machine;
}

std::vector<PresetInfo> machine_presets() {
    std::vector<PresetInfo> presets;
    for (const PresetText& preset : preset_texts())
        presets.push_back(
            {std::string(preset.name), read_machine(std::string(preset.text), std::string(preset.name)).description});
    return presets;
}

}  // namespace cachetally
