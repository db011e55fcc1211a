// SPDX-License-Identifier: BSD-3-Clause
// The subcommands of the program: each file registers one with CLI11 and runs it.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cachetally/error.hpp"

namespace cachetally::app {

/// Keys in the order in which they are written.
using Json = nlohmann::ordered_json;

/// To standard output: UTF-8, and control characters of names in it escaped.
void print_json(const Json& json);
/// The same of JSON that is a text already.
void print_json_text(std::string_view json);

/// A wrong demand of the user: reported on stderr, exit status 2.
class UsageError : public Formatted<std::runtime_error> {
public:
    using Formatted::Formatted;
};

/// The command line of this program, word by word.
std::vector<std::string> command_line();

void add_advise(CLI::App& app, const std::vector<std::string>& program);
void add_annotate(CLI::App& app);
void add_campaign(CLI::App& app);
void add_check(CLI::App& app);
void add_compare(CLI::App& app);
void add_fit(CLI::App& app);
/// `app`: of all commands.
void add_completion(CLI::App& app);
void add_manual(CLI::App& app);
void add_cpu(CLI::App& app);
void add_doctor(CLI::App& app);
/// Of add_trace().
void add_trace_export(CLI::App& trace);

void add_figure(CLI::App& app);
void add_intrusion(CLI::App& app, const std::vector<std::string>& program);
void add_machine(CLI::App& app);
void add_probe(CLI::App& app);
void add_record(CLI::App& app, const std::vector<std::string>& program);
void add_replay(CLI::App& app);
void add_report(CLI::App& app);
/// `program`: the words behind "--", which are filled in before any command runs.
void add_run(CLI::App& app, const std::vector<std::string>& program);
void add_show(CLI::App& app);
void add_sweep(CLI::App& app, const std::vector<std::string>& program);
void add_trace(CLI::App& app);
void add_trackers(CLI::App& app, const std::vector<std::string>& program);
void add_view(CLI::App& app);
void add_validate(CLI::App& app);
void add_workload(CLI::App& app);

}  // namespace cachetally::app
