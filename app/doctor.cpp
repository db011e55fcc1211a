// SPDX-License-Identifier: BSD-3-Clause
// cachetally doctor: what is installed, what the machine permits, and what to do about the rest. All is tried, not
// looked up.
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "app/commands.hpp"
#include "app/terminal.hpp"
#include "base/units.hpp"
#include "probes/targets/native_arena.hpp"
#include "probes/targets/native_counters.hpp"
#include "probes/tests.hpp"
#include "sim/model/tags/instruction_set.hpp"
#include "storage/provenance.hpp"
#include "viewer/figures/figure.hpp"
#include "viewer/text_table.hpp"
#include "workloads/capture/captured_process.hpp"
#include "workloads/capture/captured_program.hpp"

namespace cachetally::app {
namespace {

/// What is looked at; `what_to_do` is empty where all is well.
struct Examined {
    std::string subject, found, what_to_do;
};

Examined needed(const std::string& subject, const std::string& reason) {
    return {subject, reason.empty() ? "yes" : "no", reason};
}

Examined program_needed(const std::string& subject, const std::string& name, const std::string& package) {
    const std::string path = find_program(name);
    return {subject, path.empty() ? "no" : path,
            path.empty() ? fmt::format("{} is not installed: install the package {}", name, package) : ""};
}

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

Examined large_pages() {
    constexpr std::uint64_t page = std::uint64_t{2} << 20;
    try {
        const NativeArena arena(page, page);
        return {"pages of 2 MiB for probes", "yes", ""};
    } catch (const ProbeError& error) {
        return {"pages of 2 MiB for probes", "no",
                fmt::format("{}; as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled", error.what())};
    }
}

Examined physical_addresses() {
    const NativeArena arena(small_page(), small_page());
    const bool told = !arena.physical_pages(small_page()).empty();
    return {"physical addresses of pages", told ? "yes" : "no",
            told ? "" : "probes record no page mapping: root may read /proc/self/pagemap"};
}

Examined counters() {
    const NativeCounters events(levels_of_this_machine(), {});
    const CountedLevels counted = events.counted();
    return {"events of the processor",
            counted.caches + counted.tlbs == 0 ? "no" : fmt::format("{} caches, {} TLBs", counted.caches, counted.tlbs),
            events.missing()};
}

Examined processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    const int usable = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    const long all = ::sysconf(_SC_NPROCESSORS_ONLN);
    return {
        "processors", fmt::format("{} of {}", usable, all),
        usable > 1 ? "" : "a program that is captured and the simulation that reads it take turns on one processor"};
}

Examined room_in(const std::string& folder, std::uint64_t least, const std::string& use) {
    std::error_code error;
    const auto room = std::filesystem::space(folder, error);
    if (error) return {"room in " + folder, "not there", fmt::format("{}: {}", use, error.message())};
    return {"room in " + folder, bytes_text(room.available),
            room.available >= least ? "" : fmt::format("{} needs {}", use, format_size(least))};
}

Examined governor() {
    const std::string name = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    return {"clock frequency", name.empty() ? "not told" : name,
            name.empty() || name == "performance"
                ? ""
                : "probes measure cycles and seconds: as root: cpupower frequency-set -g performance"};
}

std::vector<Examined> all_facts() {
    constexpr std::uint64_t mib = std::uint64_t{1} << 20;
    const std::string temporary = std::filesystem::temp_directory_path().string();
    std::string folder_of_program = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
    return {{"program", fmt::format("{}, {}", program_version(), build_facts()), ""},
            {"instruction sets", fmt::format("{}", fmt::join(instruction_sets(), ", ")), ""},
            needed("capture of any program (run -- PROGRAM)", why_no_capture()),
            program_needed("a C compiler (cachetally-cc, cpu)", "cc", "gcc"),
            program_needed("a C++ compiler (cachetally-c++)", "c++", "g++"),
            program_needed("a Fortran compiler (cachetally-fc)", "gfortran", "gfortran"),
            needed("figures for print (figure)", why_no_figures()),
            program_needed("opening a browser (view)", "xdg-open", "xdg-utils"),
            processors(),
            large_pages(),
            physical_addresses(),
            counters(),
            governor(),
            room_in("/dev/shm", 64 * mib, "the ring of a captured program"),
            room_in(temporary, 1024 * mib, "a recording that is read several times")};
}

void print_facts(const std::vector<Examined>& facts) {
    std::string to_do;
    std::size_t widest = 0;
    for (const Examined& fact : facts) widest = std::max(widest, fact.subject.size());
    for (const Examined& fact : facts) {
        print("{:<{}}  {}\n", fact.subject, widest, fact.found);
        if (!fact.what_to_do.empty())
            to_do += wrapped(fmt::format("* {}: {}", fact.subject, fact.what_to_do), terminal_width());
    }
    print_lines(to_do.empty() ? "\nNothing is missing.\n" : "\nWhat is missing, and what would help:\n" + to_do);
}

}  // namespace

void add_doctor(CLI::App& app) {
    CLI::App* command =
        app.add_subcommand("doctor", "What is installed, what the machine permits, and what to do about the rest");
    auto json = std::make_shared<bool>(false);
    command->add_flag("--json", *json, "Print JSON");
    command->footer("Example: cachetally doctor");
    command->callback([json] {
        const std::vector<Examined> facts = all_facts();
        if (!*json) return print_facts(facts);
        Json all = Json::array();
        for (const Examined& fact : facts)
            all.push_back({{"subject", fact.subject}, {"found", fact.found}, {"what_to_do", fact.what_to_do}});
        print_json({{"facts", all}});
    });
}

}  // namespace cachetally::app
