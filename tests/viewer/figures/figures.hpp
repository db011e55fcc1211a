// SPDX-License-Identifier: BSD-3-Clause
// A small result to draw figures of.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "monitor/result_file.hpp"
#include "storage/file.hpp"
#include "tests/storage/temporary.hpp"
#include "viewer/figures/figure.hpp"

namespace cachetally::testing {

class Figures : public ::testing::Test {
protected:
    void SetUp() override {
        if (std::system("/usr/bin/python3 -c 'from importlib.util import find_spec\n"
                        "exit(None in map(find_spec, (\"h5py\", \"numpy\", \"matplotlib\")))'") != 0)
            GTEST_SKIP() << "python3-h5py or python3-matplotlib is not there";
        ResultFile file(result_);
        Group& root = file.root();
        root.set_attribute("format", "cachetally result");
        LevelLines lines;
        lines.level = "L1";
        lines.line_bytes = 64;
        for (std::uint32_t phase = 0; phase < 2; ++phase)
            for (std::uint64_t line = 0; line < 200; ++line) {
                lines.phase.push_back(phase);
                lines.address.push_back(0x1000 + 64 * line);
                lines.accesses.push_back(static_cast<double>(10 + line % 7));
                lines.misses.push_back(static_cast<double>(line % 3));
            }
        LevelLines unused;
        unused.level = "L1I";
        unused.line_bytes = 64;
        write_combined(root, {unused, lines});
        StructureTable table;
        table.regions = {{"A", 0x1000, 6400, 8}, {"B", 0x1000 + 6400, 6400, 8}};
        write_structures(root, table, {});
        file.finish();
    }

    FigureRequest request(const std::string& kind, const std::string& name, std::vector<std::string> options = {}) {
        return {kind, result_, directory_ / name, false, std::move(options)};
    }
    std::string refusal(const FigureRequest& wanted) {
        return testing::message_of([&] { draw_figure(wanted); });
    }

    TemporaryDirectory directory_;
    std::string result_ = directory_ / "r.h5";
};

}  // namespace cachetally::testing
