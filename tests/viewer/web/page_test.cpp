// SPDX-License-Identifier: BSD-3-Clause
// Pages with results inside: what is in them, and how they get to the disk.
#include "viewer/web/page.hpp"

#include <gtest/gtest.h>

#include "storage/file.hpp"
#include "tests/storage/temporary.hpp"

/// Asked by LeakSanitizer, if that is there: HDF5 itself forgets memory where metadata cannot be decoded.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5\n"; }

namespace cachetally {
namespace {

using testing::contents;
using testing::message_of;
using testing::TemporaryDirectory;
using testing::write_contents;

std::string page_with(const std::string& bytes) { return page_with_results({{"f", bytes}}); }

/// The element that holds the result.
std::string element(const std::string& html) {
    const std::size_t begin = html.find("<script id=\"cachetally-result\"");
    return html.substr(begin, html.find("</script>", begin) - begin);
}

std::string data(const std::string& html) {
    const std::string text = element(html);
    return text.substr(text.find('>') + 1);
}

TEST(Page, HoldsOnePlaceForAResultAndAsksTheNetworkForNothing) {
    const std::string page(viewer_page());
    const std::string place = "<script id=\"cachetally-result\"";
    const std::size_t first = page.find(place);
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(page.find(place, first + 1), std::string::npos);
    for (const char* outside : {"src=\"", "<link rel=\"stylesheet\"", "@import", "url(http"})
        EXPECT_EQ(page.find(outside), std::string::npos) << outside;
    EXPECT_LE(page.size(), 6'000'000U);
}

TEST(Page, BytesAreThereInBase64) {  // RFC 4648, section 10
    EXPECT_EQ(data(page_with("")), "");
    EXPECT_EQ(data(page_with("f")), "Zg==");
    EXPECT_EQ(data(page_with("fo")), "Zm8=");
    EXPECT_EQ(data(page_with("foo")), "Zm9v");
    EXPECT_EQ(data(page_with("foobar")), "Zm9vYmFy");
    EXPECT_EQ(data(page_with(std::string("\x00\xff\x10", 3))), "AP8Q");
}

TEST(Page, HoldsSeveralFilesInOrder) {
    const std::string html = page_with_results({{"a.h5", "f"}, {"b.h5", "fo"}, {"c.h5", "foo"}});
    std::size_t at = 0;
    for (const char* part :
         {"data-name=\"a.h5\">Zg==</script><script id=\"cachetally-result-2\"", "data-name=\"b.h5\">Zm8=<",
          "<script id=\"cachetally-result-3\"", "data-name=\"c.h5\">Zm9v</script>"}) {
        at = html.find(part, at);
        ASSERT_NE(at, std::string::npos) << part;
    }
}

TEST(Page, NamesCannotEndTheElement) {
    const std::string text = element(page_with_results({{"a\"><script>alert(1)</script>&'\n", "x"}}));
    EXPECT_NE(text.find("data-name=\"a&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;&#38;&#39;&#10;\""),
              std::string::npos)
        << text;
}

TEST(Page, IsWrittenWholeOrNotAtAll) {
    const TemporaryDirectory directory;
    const std::string path = directory / "page.html";
    write_page(path, "one", false);
    EXPECT_EQ(contents(path), "one");
    EXPECT_NE(message_of([&] { write_page(path, "two", false); }).find("exists already"), std::string::npos);
    EXPECT_EQ(contents(path), "one");
    write_page(path, "two", true);
    EXPECT_EQ(contents(path), "two");
    EXPECT_NE(message_of([&] { write_page(directory.path(), "x", true); }).find("not a regular file"),
              std::string::npos);
    EXPECT_NE(message_of([&] { write_page(directory / "no/such/page.html", "x", true); }).find("there is no directory"),
              std::string::npos);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(Page, OtherFilesAreRefusedInWords) {
    const TemporaryDirectory directory;
    const std::string text = directory / "text.h5", foreign = directory / "foreign.h5", newer = directory / "newer.h5";
    write_contents(text, "no HDF5 at all");
    ResultFile(foreign).finish();
    ResultFile file(newer);
    file.root().set_attribute("format", "cachetally result");
    file.root().set_attribute("format_version", 2);
    file.finish();
    EXPECT_NE(message_of([&] { page_of({text}, 1 << 20); }).find("not an HDF5 file"), std::string::npos);
    EXPECT_NE(message_of([&] { page_of({foreign}, 1 << 20); }).find("not a result of cachetally"), std::string::npos);
    EXPECT_NE(message_of([&] { page_of({newer}, 1 << 20); }).find("version 2 of the format"), std::string::npos);
    EXPECT_NE(message_of([&] { page_of({directory / "absent.h5"}, 1 << 20); }), "");
}

TEST(Page, DamagedGroupsAreRefused) {
    const TemporaryDirectory directory;
    const std::string path = directory / "r.h5";
    ResultFile file(path);
    file.root().set_attribute("format", "cachetally result");
    file.root().set_attribute("format_version", 1);
    file.root().set_attribute("kind", "run");
    for (const char* name : {"machine", "run"}) file.root().create_group(name).set_attribute("name", "x");
    file.finish();
    EXPECT_NO_THROW(page_of({path}, 1 << 20));
    const std::string whole = contents(path);
    unsigned headers = 0;
    for (std::size_t at = 0; (at = whole.find("OHDR", at)) != std::string::npos;
         ++at, ++headers) {  // of HDF5's objects
        std::string damaged = whole;
        damaged[at + 8] = static_cast<char>(damaged[at + 8] ^ 0x5a);
        write_contents(path, damaged);
        const std::string message = message_of([&] { page_of({path}, 1 << 20); });
        EXPECT_NE(message.find("r.h5"), std::string::npos) << at << ": " << message;
    }
    EXPECT_EQ(headers, 4U);  // the root, two groups, and what tells of them
}

TEST(Page, LargeFilesAreRefusedWhereverTheyAreDamaged) {
    const TemporaryDirectory directory;
    const std::string path = directory / "r.h5";
    {
        ResultFile file(path);
        file.root().set_attribute("format", "cachetally result");
        file.root().set_attribute("format_version", 1);
        file.root().set_attribute("kind", "run");
        file.root().create_group("machine").set_attribute("name", "x");
        Group links = file.root().create_group("run");
        std::vector<std::uint64_t> noise(1 << 16);
        std::uint64_t state = 1;
        for (std::uint64_t& word : noise) word = state = state * 6364136223846793005U + 1442695040888963407U;
        for (int i = 0; i < 40; ++i) {
            Group group = links.create_group("group " + std::to_string(i));
            group.write("words", noise);
            group.write_texts("texts", std::vector<std::string>(200, "a text that is not short " + std::to_string(i)));
        }
        file.finish();
    }
    EXPECT_NO_THROW(page_of({path}, 1 << 20));  // a reduced copy
    const std::string whole = contents(path);
    ASSERT_GT(whole.size(), 16U << 20);
    for (std::size_t at = 12345; at < whole.size(); at += 1 << 20) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 4);
        write_contents(path, damaged);
        const std::string message = message_of([&] { page_of({path}, 1 << 20); });
        EXPECT_NE(message.find("not what was written"), std::string::npos) << at << ": " << message;
    }
}

TEST(Page, TemporaryPagesAreInADirectoryOfOurOwn) {
    const TemporaryDirectory directory;
    ::setenv("TMPDIR", directory.path().c_str(), 1);
    const std::string page = temporary_page({"/somewhere/lu.h5"});
    EXPECT_TRUE(page.starts_with(directory.path().string())) << page;
    EXPECT_EQ(temporary_page({"/somewhere/lu.h5"}), page);
    EXPECT_NE(temporary_page({"/elsewhere/lu.h5"}), page);
    EXPECT_TRUE(temporary_page({}).find("/viewer-") != std::string::npos) << "without a result";
    const std::filesystem::path own = std::filesystem::path(page).parent_path();
    EXPECT_EQ(std::filesystem::status(own).permissions(), std::filesystem::perms::owner_all);
    std::filesystem::permissions(own, std::filesystem::perms::all);
    EXPECT_NE(message_of([&] { temporary_page({"/somewhere/lu.h5"}); }).find("not a directory of yours alone"),
              std::string::npos);
    ::unsetenv("TMPDIR");
}

}  // namespace
}  // namespace cachetally
