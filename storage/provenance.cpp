// SPDX-License-Identifier: BSD-3-Clause
// Writing and reading provenance.
#include "storage/provenance.hpp"

#include <H5public.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <utility>

#include "storage/hash.hpp"
#include "storage/version.hpp"

namespace cachetally {
namespace {

std::string host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
    return name.data();
}

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

using TextField = std::pair<const char*, std::string Provenance::*>;
constexpr TextField text_fields[] = {
    {"version", &Provenance::version},
    {"commit", &Provenance::commit},
    {"compiler", &Provenance::compiler},
    {"machine_name", &Provenance::machine_name},
    {"machine_hash", &Provenance::machine_hash},
    {"trace_name", &Provenance::trace_name},
    {"trace_hash", &Provenance::trace_hash},
    {"host", &Provenance::host},
    {"utc", &Provenance::utc},
};

}  // namespace

Provenance make_provenance(std::vector<std::string> command_line) {
    Provenance provenance;
    provenance.version = version_text;
    provenance.commit = commit_text;
    provenance.compiler = compiler_text;
    provenance.command_line = std::move(command_line);
    provenance.host = host_name();
    provenance.utc = utc_now();
    return provenance;
}

void Provenance::add_trace(const std::string& name, const std::string& hash) {
    if (!trace_name.empty()) {
        trace_name += '\n';
        trace_hash += '\n';
    }
    trace_name += name;
    trace_hash += hash;
}

std::string release_version() { return version_text; }

std::string build_facts() {
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    return fmt::format("{} for {} by {}, HDF5 {}.{}.{}", build_type_text, processor_text, compiler_text, major, minor,
                       release);
}

std::string program_version() { return fmt::format("{} ({})", version_text, commit_text); }

void write_provenance(Group& root, const Provenance& provenance) {
    Provenance full = provenance;
    if (full.machine_hash.empty() && !full.machine_text.empty()) full.machine_hash = hash_text(full.machine_text);
    Group group = root.create_group("provenance");
    for (const auto& [name, member] : text_fields) group.set_attribute(name, full.*member);
    group.set_attribute("seed", full.seed);
    group.write_texts("command_line", full.command_line);
    if (!full.execution.empty()) group.write_texts("execution", full.execution);
    const std::vector<std::uint8_t> text(full.machine_text.begin(), full.machine_text.end());
    group.write("machine_file", text);  // bytes: a file may be longer than an attribute, and hold anything
}

Provenance read_provenance(const Group& root) {
    const Group group = root.open_group("provenance");
    Provenance provenance;
    for (const auto& [name, member] : text_fields) provenance.*member = group.text_attribute(name);
    provenance.seed = group.whole_attribute("seed");
    provenance.command_line = group.read_texts("command_line");
    if (group.has("execution")) provenance.execution = group.read_texts("execution");
    const auto text = group.read<std::uint8_t>("machine_file");
    provenance.machine_text.assign(text.begin(), text.end());
    return provenance;
}

}  // namespace cachetally
