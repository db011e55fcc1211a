// SPDX-License-Identifier: BSD-3-Clause
// What is written is read back; what does not fit is an error that names file and object.
#include "storage/group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5_hl.h>

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <limits>

#include "storage/columns.hpp"
#include "storage/file.hpp"
#include "storage/hash.hpp"
#include "storage/provenance.hpp"
#include "tests/storage/temporary.hpp"

namespace cachetally {
namespace {

using ::testing::HasSubstr;
using testing::message_of;
using testing::TemporaryDirectory;

/// Writes with one function, reads with another.
template <class Write, class Read>
void round_trip(Write&& write, Read&& read) {
    const TemporaryDirectory directory;
    {
        ResultFile file(directory / "f.h5");
        write(file.root());
        file.finish();
    }
    const InputFile input(directory / "f.h5");
    read(input.root());
}

template <class T>
void column_round_trip(const std::vector<T>& values) {
    round_trip([&](Group& root) { root.write("column", values); },
               [&](const Group& root) { RC_ASSERT(root.read<T>("column") == values); });
}

RC_GTEST_PROP(Columns, ComeBack, (const std::vector<std::uint64_t>& values, const std::vector<std::uint8_t>& bytes)) {
    column_round_trip(values);
    column_round_trip(bytes);
}

TEST(Columns, ComeBackForEveryType) {
    round_trip(
        [](Group& root) {
            root.write("u16", std::vector<std::uint16_t>(1000, 65535));
            root.write("u32", std::vector<std::uint32_t>(300, 0x89abcdef));
            root.write("i64", std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), -1, 0});
            root.write("f64", std::vector<double>{0.1, -1e300, std::numeric_limits<double>::infinity()});
            root.write("none", std::vector<double>{});
        },
        [](const Group& root) {
            EXPECT_EQ(root.read<std::uint16_t>("u16"), std::vector<std::uint16_t>(1000, 65535));
            EXPECT_EQ(root.read<std::uint32_t>("u32"), std::vector<std::uint32_t>(300, 0x89abcdef));
            EXPECT_EQ(root.read<std::int64_t>("i64").front(), std::numeric_limits<std::int64_t>::min());
            EXPECT_EQ(root.read<double>("f64"),
                      (std::vector<double>{0.1, -1e300, std::numeric_limits<double>::infinity()}));
            EXPECT_TRUE(root.read<double>("none").empty());
            EXPECT_EQ(root.children(),
                      (std::vector<std::string>{"consolidated_metadata", "f64", "i64", "none", "u16", "u32"}));
        });
}

TEST(Columns, GrowByAppending) {
    round_trip(
        [](Group& root) {
            Dataset column = root.create_column("grown", Element::u64);
            std::uint64_t next = 0;
            for (const std::size_t count : {1UL, 0UL, 65536UL, 100000UL, 3UL}) {
                std::vector<std::uint64_t> rows(count);
                for (auto& row : rows) row = next++;
                column.append(std::span<const std::uint64_t>(rows));
            }
        },
        [](const Group& root) {
            const Dataset column = root.open_dataset("grown");
            ASSERT_EQ(column.rows(), 165540U);
            std::vector<std::uint64_t> rows(3);
            column.read_rows(65535, std::span(rows));
            EXPECT_EQ(rows, (std::vector<std::uint64_t>{65535, 65536, 65537}));
            EXPECT_THAT(message_of([&] { column.read_rows(165538, std::span(rows)); }),
                        HasSubstr("f.h5:/grown: rows 165538 to 165541 are beyond its 165540 rows"));
        });
}

TEST(Texts, ComeBack) {
    const std::vector<std::string> texts{"", "A", "Zeile \xC3\xA4", std::string(3000, 'x')};
    round_trip([&](Group& root) { root.write_texts("texts", texts); },
               [&](const Group& root) { EXPECT_EQ(root.read_texts("texts"), texts); });
    round_trip([](Group& root) { root.write_texts("texts", {}); },
               [](const Group& root) { EXPECT_TRUE(root.read_texts("texts").empty()); });
    round_trip(
        [](Group& root) {
            const std::vector<std::string> bad{std::string("a\0b", 3)};
            EXPECT_THAT(message_of([&] { root.write_texts("bad", bad); }), HasSubstr("/bad: a text holds a zero byte"));
        },
        [](const Group&) {});
}

TEST(Attributes, ComeBackAndAreReplaced) {
    round_trip(
        [](Group& root) {
            root.set_attribute("text", "first");
            root.set_attribute("text", "second");
            root.set_attribute("empty", "");
            root.set_attribute("texts", std::vector<std::string>{"x", "", "yy"});
            root.set_attribute("real", 0.25);
            root.set_attribute("large", std::numeric_limits<std::uint64_t>::max());
            root.set_attribute("negative", -3);
        },
        [](const Group& root) {
            EXPECT_EQ(root.text_attribute("text"), "second");
            EXPECT_EQ(root.text_attribute("empty"), "");
            EXPECT_EQ(root.texts_attribute("texts"), (std::vector<std::string>{"x", "", "yy"}));
            EXPECT_EQ(root.real_attribute("real"), 0.25);
            EXPECT_EQ(root.whole_attribute("large"), std::numeric_limits<std::uint64_t>::max());
            EXPECT_EQ(root.signed_attribute("negative"), -3);
            EXPECT_THAT(message_of([&] { (void)root.whole_attribute("negative"); }), HasSubstr("is negative"));
            EXPECT_THAT(message_of([&] { (void)root.whole_attribute("text"); }), HasSubstr("not a single number"));
            EXPECT_THAT(message_of([&] { (void)root.text_attribute("real"); }), HasSubstr("is not a text"));
            EXPECT_THAT(message_of([&] { (void)root.text_attribute("absent"); }),
                        HasSubstr("f.h5:/: attribute 'absent' is missing"));
        });
}

TEST(Groups, NameWhatIsAbsentTakenOrOfAnotherKind) {
    round_trip(
        [](Group& root) {
            Group inner = root.create_group("inner");
            inner.write("column", std::vector<double>{1});
            EXPECT_THAT(message_of([&] { inner.write("column", std::vector<double>{2}); }),
                        HasSubstr("/inner/column: exists already"));
            EXPECT_THAT(message_of([&] { (void)root.create_group("inner"); }), HasSubstr("/inner: exists already"));
            EXPECT_THROW(inner.write_table<double>("t", std::vector<double>(5), 2, 3), std::invalid_argument);
        },
        [](const Group& root) {
            EXPECT_THAT(message_of([&] { (void)root.open_group("absent"); }), HasSubstr("/absent: there is no such"));
            const Group inner = root.open_group("inner");
            EXPECT_THAT(message_of([&] { (void)inner.open_dataset("x"); }), HasSubstr("/inner/x: there is no such"));
            EXPECT_THAT(message_of([&] { (void)root.open_dataset("inner"); }), HasSubstr("/inner: cannot open"));
            EXPECT_THAT(message_of([&] { (void)inner.read_texts("column"); }), HasSubstr("does not hold texts"));
        });
}

TEST(Axes, AreDimensionScalesAndNexusAttributes) {
    round_trip(
        [](Group& root) {
            Group data = root.create_group("data");
            data.write("phase", std::vector<std::uint32_t>{0, 1});
            data.write("key", std::vector<std::uint64_t>{64, 128, 192});
            data.write_table<std::uint64_t>("count", std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6}, 2, 3);
            data.write_table<double>("rate", std::vector<double>{1, 2, 3, 4, 5, 6}, 2, 3);
            data.write_texts("name", std::vector<std::string>{"a", "b"});
            data.create_group("pyramid");
            set_axes(data, "count", {"phase", "key"});
            attach_axes(data, "name", {"phase"});
            EXPECT_THAT(message_of([&] {
                            set_axes(data, "count", {"key", "phase"});
                        }),
                        HasSubstr("/data/key: is not a column of 2 rows"));
        },
        [](const Group& root) {
            const Group data = root.open_group("data");
            EXPECT_EQ(data.text_attribute("NX_class"), "NXdata");
            EXPECT_EQ(data.text_attribute("signal"), "count");
            EXPECT_EQ(data.texts_attribute("axes"), (std::vector<std::string>{"phase", "key"}));
            const Dataset count = data.open_dataset("count"), key = data.open_dataset("key");
            EXPECT_EQ(count.shape(), (std::vector<std::uint64_t>{2, 3}));
            EXPECT_GT(H5DSis_scale(key.id()), 0);
            EXPECT_GT(H5DSis_attached(count.id(), key.id(), 1), 0);
            EXPECT_GT(H5DSis_attached(data.open_dataset("rate").id(), key.id(), 1), 0);
            EXPECT_GT(H5DSis_attached(data.open_dataset("name").id(), data.open_dataset("phase").id(), 0), 0);
        });
}

TEST(Provenance, ComesBack) {
    Provenance written = make_provenance({"cachetally", "run", "lu", "--title", "with space"});
    written.seed = 42;
    written.machine_name = "schulz2002";
    written.machine_text = "name: x\n\"quoted\"\n";
    round_trip([&](Group& root) { write_provenance(root, written); },
               [&](const Group& root) {
                   const Provenance read = read_provenance(root);
                   EXPECT_EQ(read.command_line, written.command_line);
                   EXPECT_EQ(read.machine_text, written.machine_text);
                   EXPECT_EQ(read.machine_hash, hash_text(written.machine_text));
                   EXPECT_EQ(read.seed, 42U);
                   EXPECT_EQ(read.version, written.version);
                   EXPECT_THAT(read.utc, ::testing::MatchesRegex("20..-..-..T..:..:..Z"));
                   EXPECT_FALSE(read.compiler.empty());
               });
}

TEST(Hash, IsThatOfXxhsum) {
    // `printf '' | xxhsum -H128` and the specification of XXH3
    EXPECT_EQ(hash_text(""), "99aa06d3014798d86001c324468d497f");
    const TemporaryDirectory directory;
    testing::write_contents(directory / "f", "abc");
    EXPECT_EQ(hash_file(directory / "f"), hash_text("abc"));
    EXPECT_THAT(message_of([&] { (void)hash_file(directory / "absent"); }), HasSubstr("absent: No such file"));
}

}  // namespace
}  // namespace cachetally
