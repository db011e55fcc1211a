# SPDX-License-Identifier: BSD-3-Clause
# Writes a C++ table of the machine files INPUTS (name, text) to OUTPUT.
set(table "")
foreach(input IN LISTS INPUTS)
  get_filename_component(name ${input} NAME_WE)
  file(READ ${input} text)
  string(APPEND table "    {\"${name}\", R\"MACHINE(${text})MACHINE\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"sim/topology/presets.hpp\"
namespace cachetally {
std::span<const PresetText> preset_texts() {
    static constexpr PresetText table[] = {
${table}    };
    return table;
}
}  // namespace cachetally
")
