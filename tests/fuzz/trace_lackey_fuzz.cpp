// SPDX-License-Identifier: BSD-3-Clause
// Fuzzer of the reader of lackey text.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/trace_text_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    cachetally::fuzz::check_text(cachetally::TraceFormat::lackey, {reinterpret_cast<const char*>(data), size});
    return 0;
}
