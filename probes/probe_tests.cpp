// SPDX-License-Identifier: BSD-3-Clause
// The registry of tests: those of the project, then those that a program adds.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/text.hpp"
#include "cachetally/probe_test.hpp"
#include "probes/suite.hpp"

namespace cachetally {
namespace {

/// Made where it is first asked for, so that it does not matter what was linked or initialised before.
std::vector<ProbeTest>& registered_tests() {
    static std::vector<ProbeTest> tests = built_in_probe_tests();
    return tests;
}

bool is_registered(const std::string& name) {
    return std::ranges::find(registered_tests(), name, &ProbeTest::name) != registered_tests().end();
}

void check_name(const std::string& name) {
    const bool legal = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    if (name.empty() || !legal)
        throw std::invalid_argument(
            fmt::format("add_test: '{}' cannot be the name of a test; write one of a-z, 0-9 and _", shown(name)));
    if (is_registered(name))
        throw std::invalid_argument(fmt::format("add_test: there is a test '{}' already; choose another name", name));
}

void check_others(const ProbeTest& test, const std::vector<std::string>& others, std::string_view field) {
    std::vector<std::string_view> known;
    for (const ProbeTest& each : registered_tests()) known.emplace_back(each.name);
    for (const std::string& other : others)
        if (!is_registered(other))
            throw std::invalid_argument(fmt::format("add_test: '{}': {}: there is no test '{}'{}", test.name, field,
                                                    shown(other), advice(other, known)));
}

}  // namespace

void add_test(ProbeTest test) {
    check_name(test.name);
    if (!test.published && !test.robust)
        throw std::invalid_argument(
            fmt::format("add_test: '{}' has neither a published nor a robust variant; give one", test.name));
    if (test.parts == 0)
        throw std::invalid_argument(
            fmt::format("add_test: '{}' may spend 0 parts of a budget; give 1 or more", test.name));
    check_others(test, test.goes_by, "goes_by");
    check_others(test, test.counterparts, "counterparts");
    registered_tests().push_back(std::move(test));
}

std::span<const ProbeTest> probe_tests() { return registered_tests(); }

}  // namespace cachetally
