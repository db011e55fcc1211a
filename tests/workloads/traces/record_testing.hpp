// SPDX-License-Identifier: BSD-3-Clause
// Bytes of binary traces, made by hand.
#pragma once

#include <gmock/gmock.h>

#include <map>

#include "tests/workloads/traces/trace_testing.hpp"

namespace cachetally::testing {

inline Reference fetch_of(Address address, std::uint16_t size = 1) {
    return {address, 0, size, ReferenceKind::fetch, 0};
}
inline Reference load_of(Address address, std::uint16_t size = 1) { return {address, 0, size, ReferenceKind::load, 0}; }
inline Reference store_of(Address address, std::uint16_t size = 1) {
    return {address, 0, size, ReferenceKind::store, 0};
}

/// A number in so many bytes, the lowest first.
inline std::string le(std::uint64_t value, unsigned bytes = 8) {
    std::string text;
    for (unsigned i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i)));
    return text;
}

/// "00 ff": the bytes that are written so.
inline std::string bytes_of(std::string_view hex) {
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 3)
        bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
    return bytes;
}

/// The references of a binary trace in memory.
inline std::vector<Reference> read_records(TraceFormat format, const std::string& bytes, std::string* failure = nullptr,
                                           TraceOptions options = {}) {
    OpenedStream stream = memory_stream("t", "");
    stream.start = bytes;
    const auto source = open_binary_trace(std::move(stream), format, options);
    return references_of(read_stream(*source, 0, failure));
}

/// Every beginning of a trace gives the first references, then its end or an error that says where.
inline void check_beginnings(TraceFormat format, const std::string& bytes) {
    const std::vector<Reference> all = read_records(format, bytes);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        std::string failure;
        const auto some = read_records(format, bytes.substr(0, size), &failure);
        ASSERT_LE(some.size(), all.size());
        EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin())) << size;
        if (failure.empty()) continue;
        EXPECT_THAT(failure, ::testing::ContainsRegex("t: (byte [0-9]+, record |holds no record)"));
    }
}

}  // namespace cachetally::testing
