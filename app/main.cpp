// cachetally: the command line. Subcommands are in the files of their names.
#include <fmt/format.h>

#include <cstdio>

#include "app/commands.hpp"
#include "sim/topology/topology.hpp"

namespace {

constexpr int failed = 1, wrong_use = 2;

int run(int argc, char** argv) {
    CLI::App app("Simulator of hardware cache monitors with memory access histograms", "cachetally");
    app.require_subcommand(1);
    app.set_help_all_flag("--help-all", "Help of all subcommands");
    app.failure_message(CLI::FailureMessage::help);
    app.get_formatter()->column_width(34);
    cachetally::app::add_run(app);
    cachetally::app::add_sweep(app);
    cachetally::app::add_machine(app);
    cachetally::app::add_workload(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);
        fmt::print(stderr, "cachetally: {}\nTry 'cachetally {}--help'.\n", error.what(),
                   app.get_subcommands().empty() ? "" : app.get_subcommands().front()->get_name() + " ");
        return wrong_use;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const cachetally::app::UsageError& error) {
        fmt::print(stderr, "cachetally: {}\n", error.what());
        return wrong_use;
    } catch (const std::invalid_argument& error) {  // machine, monitor and workload options
        fmt::print(stderr, "cachetally: {}\n", error.what());
        return wrong_use;
    } catch (const cachetally::MachineError& error) {
        fmt::print(stderr, "{}\n", error.what());
        return wrong_use;
    } catch (const std::exception& error) {
        fmt::print(stderr, "cachetally: {}\n", error.what());
        return failed;
    }
}
