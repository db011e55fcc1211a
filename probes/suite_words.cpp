// SPDX-License-Identifier: BSD-3-Clause
// What is said of the variants that tests have.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "probes/suite.hpp"

namespace cachetally {
namespace {

/// "l1 answers the same", "levels and l2 answer the same"; empty where no test does.
std::string answer_the_same(const ProbeTest& test) {
    if (test.counterparts.empty()) return "";
    return fmt::format("{} answer{} the same", fmt::join(test.counterparts, " and "),
                       test.counterparts.size() == 1 ? "s" : "");
}

}  // namespace

std::string variants_of(const ProbeTest& test) {
    if (test.published && test.robust) return "published and robust";
    const std::string same = answer_the_same(test);
    return fmt::format("{} only{}", test.published ? "published" : "robust",
                       same.empty() ? "" : fmt::format("; {}, {}", test.published ? "robust" : "published", same));
}

std::string note_of(const std::string& name) {
    const auto test = std::ranges::find(probe_tests(), name, &ProbeTest::name);
    if (test == probe_tests().end() || (test->published && test->robust)) return "";
    const std::string same = answer_the_same(*test);
    if (same.empty()) return test->why;
    return fmt::format("{}, {} ({})", test->published ? "robust" : "published", same, test->why);
}

std::string left_out_in_words(const SuiteOptions& options) {
    std::string all;
    for (const ProbeTest* test : left_out_of(options)) {
        const std::string same = answer_the_same(*test);
        all += fmt::format("{}{}{}", all.empty() ? "" : ", ", test->name, same.empty() ? "" : " (" + same + ")");
    }
    if (all.empty()) return "";
    return fmt::format("left out, as there is no {} variant: {}", options.robust ? "robust" : "published", all);
}

}  // namespace cachetally
