// SPDX-License-Identifier: BSD-3-Clause
// The table of causes, by hand.
#include "viewer/causes_text.hpp"

#include <gtest/gtest.h>

namespace cachetally {
namespace {

TEST(CausesText, WithSharingIsOneTableWithNumbersInFull) {
    RunView view;
    view.structures.regions = {{"key_from", 4096, 640, 8}, {"key_to", 8192, 640, 8}};
    view.causes = {{"L1D", {{0, 0, {100650, 2685, 34005, 3245}}, {1, 0, {8589, 258, 18441, 5743}}}, {}}};
    view.sharing = {{"L1D"}, 64, {{0, 0, 4096, 0, 0, 1, 0, 446, 2239}}};
    TextOptions options;
    options.width = 80;
    const std::string text = causes_text(view, options);
    EXPECT_EQ(text,
              "\nwhy levels miss\n"
              "      data                first                    false\n"
              "level structure  misses     use invalidated true sharing capacity conflict\n"
              "L1D   key_from  140,585 100,650       2,685  446   2,239   34,005    3,245\n"
              "L1D   key_to     33,031   8,589         258    0       0   18,441    5,743\n")
        << "nothing evicts anything: no table of that";
}

}  // namespace
}  // namespace cachetally
