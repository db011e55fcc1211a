// SPDX-License-Identifier: BSD-3-Clause
#include "sim/tlm/host.hpp"

#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

#include "sim/tlm/platform.hpp"

namespace cachetally {
namespace {

/// SystemC calls sc_main() by its name, and hands nothing on but words.
std::function<void()>& within_sc_main() {
    static std::function<void()> simulation;
    return simulation;
}

}  // namespace

RunResult run_on_systemc(const Topology& topology, Hierarchy& hierarchy, ReferenceSource& source,
                         const RunOptions& options) {
    std::optional<RunResult> result;
    std::exception_ptr thrown;
    within_sc_main() = [&] {
        try {
            tlm::tlm_global_quantum::instance().set(TimeScale().time(options.quantum));
            ReplayPlatform platform("platform", topology, hierarchy, source, options);
            sc_core::sc_start();
            result = platform.result();
        } catch (...) {
            thrown = std::current_exception();  // SystemC would print it
        }
    };
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
    std::string name = "cachetally";
    char* words[] = {name.data(), nullptr};
    sc_core::sc_elab_and_sim(1, words);
    if (thrown) std::rethrow_exception(thrown);
    return std::move(*result);
}

}  // namespace cachetally

int sc_main(int, char**) {
    cachetally::within_sc_main()();
    return 0;
}
