// SPDX-License-Identifier: BSD-3-Clause
// Figures: what is drawn is what the file has. The comparisons are in drawn.py, with numpy and h5py on the file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/storage/temporary.hpp"
#include "viewer/figures/figure_script.hpp"

namespace cachetally {
namespace {

using testing::contents;

TEST(Drawn, IsWhatTheFileHas) {
    if (std::system("/usr/bin/python3 -c 'from importlib.util import find_spec\n"
                    "exit(None in map(find_spec, (\"h5py\", \"numpy\", \"matplotlib\")))'") != 0)
        GTEST_SKIP() << "python3-h5py or python3-matplotlib is not there";
    const testing::TemporaryDirectory directory;
    const std::string script(figure_script());
    std::string drawn = script.substr(0, script.rfind("main()"));
    for (const char* part : {"", "_counts", "_fronts", "_tables", "_main"})
        drawn += contents(fmt::format("{}/tests/viewer/figures/drawn{}.py", CACHETALLY_SOURCE_DIR, part));
    const ScriptEnd end = run_figure_script(drawn, {directory.path().string(), CACHETALLY_FIGURE_DATA});
    EXPECT_EQ(end.status, 0) << end.messages;
}

}  // namespace
}  // namespace cachetally
