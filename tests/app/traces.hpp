// SPDX-License-Identifier: BSD-3-Clause
// Traces of which all counts are known by hand.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/app/program.hpp"

namespace cachetally::testing {

/// Two fetches; a load of two lines, a modify (load and store), a store: with what valgrind and the program say
/// between.
inline constexpr char lackey[] =
    "==77== Lackey, an example Valgrind tool\n"
    "==77== Command: prog\n"
    "I  00401000,4\n"
    " L 1000003c,8\n"
    "hello, world\n"
    "I  00401004,3\n"
    " M 10000000,4\n"
    " S 10000040,2\n"
    "==77== \n"
    "==77== Counted 1 call to main()\n";

inline constexpr char din[] =
    "2 401000 4\n"
    "0 1000003c 8\n"
    "2 401004 3\n"
    "0 10000000 4\n"
    "1 10000000 4\n"
    "1 10000040 2\n";

/// One level of 64-byte lines, without TLB.
inline constexpr char machine[] =
    "name: tiny\n"
    "cores: 1\n"
    "clock: 1 GHz\n"
    "caches:\n"
    "  - {name: L1, size: 1 KiB, ways: 2, line: 64, latency: 1, next: memory}\n"
    "memory: {size: 1 GiB, latency: 100}\n";

class Traces : public ::testing::Test {
protected:
    Traces() {
        put("t.lackey", lackey);
        put("t.din", din);
        put("m.yaml", machine);
    }
    void put(const std::string& name, const std::string& text) const { write_contents(directory / name, text); }
    Finished call(const std::vector<std::string>& words, const Circumstances& circumstances = {}) const {
        return cachetally(directory.path(), words, circumstances);
    }
    Finished replay(const std::string& trace, const Circumstances& circumstances = {}) const {
        return call({"replay", trace, "--machine", "m.yaml", "--json"}, circumstances);
    }
    void pack(const std::string& from, const std::string& to) const {
        const Finished finished = call({"trace", "convert", from, to});
        ASSERT_EQ(finished.status, 0) << finished.err;
    }
    TemporaryDirectory directory;
};

}  // namespace cachetally::testing
