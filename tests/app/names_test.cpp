// SPDX-License-Identifier: BSD-3-Clause
// Names come from anybody's file; a terminal gets none of their control characters, and each stays in its line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/program.hpp"
#include "workloads/traces/packed_writer.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

/// ESC, a line break, the one-byte form of CSI, CSI in UTF-8, what turns the direction of writing, DEL.
constexpr char evil[] =
    "e\x1b[31mv\nINTRUDER\x9bl\xc2\x9b"
    "x\xe2\x80\xae"
    "y\x7f";
constexpr char tame[] = "e?[31mv?INTRUDER?l?x?y?";

class Names : public ::testing::Test {
protected:
    Names() {
        PackedTraceWriter writer(directory / "t.ct.h5", 1);
        const Reference loads[] = {{0x1000, 0, 8, ReferenceKind::load, 0}, {0x2000, 0, 8, ReferenceKind::load, 0}};
        writer.append(0, Control{Control::Kind::enter_function, 0});
        writer.append(0, loads);
        writer.append(0, Control{Control::Kind::leave_function, 0});
        writer.append(0, Control{Control::Kind::barrier, 1});
        const Reference others[] = {{0x1800, 0, 8, ReferenceKind::load, 0},
                                    {0x2800, 0, 8, ReferenceKind::load, 0},
                                    {0x1c00, 0, 8, ReferenceKind::load, 0},
                                    {0x1400, 0, 8, ReferenceKind::load, 0}};  // 4 of 6 misses: this phase stands out
        writer.append(0, others);
        writer.set_phase_names({evil});
        writer.set_regions({Region{evil, 0x1000, 0x2000, 8}});
        writer.set_functions({evil});
        writer.finish();
        write_contents(
            directory / "m.yaml",
            "name: \"n\\e[31m\\nINTRUDER\"\ndescription: \"d\\e[1m\\x9b\"\nsource: \"s\\a\"\ncores: 1\nclock: 1 GHz\n"
            "caches:\n  - {name: L1, size: 1 KiB, ways: 2, line: 64, latency: 1, next: memory}\n"
            "memory: {size: 1 GiB, latency: 100}\n"
            "monitors:\n  - {link: core-L1, name: \"w\\e[31m\\nINTRUDER\", functions: on}\n");
    }
    Finished call(const Words& words) const { return cachetally(directory.path(), words); }
    TemporaryDirectory directory;
};

/// Whether a terminal may have it: UTF-8 (as the JSON library checks it), and of controls line breaks alone.
void expect_clean(const std::string& text, const std::string& of) {
    EXPECT_NO_THROW((void)nlohmann::json(text).dump()) << of;
    for (const char* bad : {"\x1b", "\x07", "\x7f", "\xc2\x9b", "\xe2\x80\xae", "\r"})
        EXPECT_EQ(text.find(bad), std::string::npos) << of;
    EXPECT_EQ(text.find("\nINTRUDER"), std::string::npos) << of;
}

TEST_F(Names, ReachTheTerminalWithoutControlCharacters) {
    ASSERT_EQ(call({"replay", "t.ct.h5", "-m", "m.yaml", "--causes", "-o", "r.h5", "--json"}).status, 0);
    for (const Words& words : {Words{"trace", "info", "t.ct.h5"},
                               {"replay", "t.ct.h5", "-m", "m.yaml", "--causes"},
                               {"replay", "t.ct.h5", "-m", "schulz2002"},
                               {"sweep", "t.ct.h5", "-m", "m.yaml", "--counters", "2", "--granularity", "1"},
                               {"intrusion", "t.ct.h5", "-m", "m.yaml"},
                               {"trackers", "t.ct.h5", "-m", "m.yaml"},
                               {"show", "r.h5"},
                               {"show", "r.h5", "--what", "misses", "--heat"},
                               {"machine", "show", "m.yaml"},
                               {"machine", "show", "m.yaml", "--dot"},
                               {"machine", "show", "m.yaml", "--yaml"},
                               {"machine", "check", "m.yaml"},
                               {"run", "chase", "-m", "m.yaml", "--max-references", "1K"}}) {
        const Finished finished = call(words);
        EXPECT_EQ(finished.status, 0) << finished.err;
        expect_clean(finished.out + finished.err, words[0] + " " + words[1]);
    }
    EXPECT_THAT(call({"trace", "info", "t.ct.h5"}).out, HasSubstr(tame));
    EXPECT_THAT(call({"show", "r.h5"}).out, HasSubstr(tame));
    EXPECT_THAT(call({"show", "r.h5"}).out, HasSubstr("worst in phase 1 (e?[31mv INTRUDER?l?x?y?)"));
}

TEST_F(Names, AreWholeInJsonButForBytesThatAreNoUtf8) {
    const Finished finished = call({"trace", "info", "t.ct.h5", "--json"});
    expect_clean(finished.out, "JSON");
    EXPECT_EQ(finished.json()["regions"][0]["name"],
              "e\x1b[31mv\nINTRUDER\xef\xbf\xbdl\xc2\x9b"
              "x\xe2\x80\xae"
              "y\x7f");
    const Finished shown = call({"machine", "show", "m.yaml", "--json"});
    expect_clean(shown.out, "JSON");
    EXPECT_EQ(shown.json()["description"], "d\x1b[1m\xc2\x9b");
}

TEST_F(Names, InErrorsAreWithoutControlCharacters) {
    write_contents(directory / "bad.yaml", "name: a\n\"co\\e\xff\xc2\x9bres\": 4\n\"\xfe");
    for (const Words& words : {Words{"machine", "check", "bad.yaml"},
                               {"machine", "check", evil},
                               {"replay", evil},
                               {"run", evil},
                               {"run", "chase", evil},
                               {"replay", "t.ct.h5", "-m", evil},
                               {evil}}) {
        const Finished finished = call(words);
        EXPECT_EQ(finished.status, 2);
        EXPECT_NO_THROW((void)nlohmann::json(finished.err).dump()) << words.front();
        EXPECT_EQ(finished.err.find('\x1b'), std::string::npos) << words.front();
        EXPECT_EQ(finished.err.find('\x7f'), std::string::npos) << words.front();
    }
}

}  // namespace
}  // namespace cachetally::testing
