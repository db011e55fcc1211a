// SPDX-License-Identifier: BSD-3-Clause
// Damaged files of every kind: each change of their bytes is refused before the HDF5 library sees it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iterator>
#include <random>
#include <sstream>

#include "storage/file.hpp"
#include "tests/app/program.hpp"
#include "tests/storage/temporary.hpp"

namespace cachetally {
namespace {

using testing::contents;
using testing::message_of;
using testing::TemporaryDirectory;
using testing::write_contents;

struct KindOfFile {
    const char* name;
    const char* made_by;  ///< writes f.h5
};

constexpr KindOfFile kinds[] = {
    {"run", "run radix keys=500 processors=8 -m coherent8 -o f.h5"},
    {"sweep", "sweep lu n=16 -m schulz2002 --counters 16,64 --granularity 1,2 -o f.h5"},
    {"trace", "trace convert lu f.h5 n=16"},
    {"probe", "probe levels --machine xray-pentium4xeon --arena 4 -o f.h5"},
    {"validate", "validate --machines 1 --tests l1 -o f.h5"},
    {"intrusion", "intrusion lu n=16 -m generic3-timed --counters 16 --granularity 1 -o f.h5"},
};

/// A file after one flip, insertion, deletion or truncation.
std::string damaged(const std::string& whole, std::mt19937_64& random) {
    std::string bytes = whole;
    const std::size_t place = random() % whole.size();
    switch (random() % 4) {
        case 0: bytes[place] ^= static_cast<char>(1U << random() % 8); break;
        case 1: bytes.insert(place, 1 + random() % 8, static_cast<char>(random() % 3 == 0 ? random() : 0)); break;
        case 2: bytes.erase(place, 1 + random() % 8); break;
        default: bytes.resize(place);
    }
    return bytes;
}

class DamagedKinds : public ::testing::TestWithParam<KindOfFile> {};

/// CACHETALLY_DAMAGES: how many instead of a sample.
TEST_P(DamagedKinds, AreRefused) {
    const TemporaryDirectory directory;
    const std::string path = directory / "f.h5";
    std::istringstream words(GetParam().made_by);
    std::vector<std::string> arguments(std::istream_iterator<std::string>(words), {});
    const testing::Finished made = testing::cachetally(directory.path(), arguments);
    ASSERT_EQ(made.status, 0) << made.err;
    ASSERT_EQ(message_of([&] { InputFile{path}; }), "");
    const std::string whole = contents(path);
    const char* wanted = std::getenv("CACHETALLY_DAMAGES");
    std::mt19937_64 random(1);
    for (unsigned i = 0; i < (wanted != nullptr ? std::stoul(wanted) : 200); ++i) {
        const std::string bytes = damaged(whole, random);
        if (bytes == whole) continue;
        write_contents(path, bytes);
        EXPECT_NE(message_of([&] { InputFile{path}; }), "") << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Files, DamagedKinds, ::testing::ValuesIn(kinds),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace cachetally
