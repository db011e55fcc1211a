// SPDX-License-Identifier: BSD-3-Clause
// Fuzzer of decompression as the readers use it: any bytes are a trace, or an error.
#include <cstddef>
#include <cstdint>

#include "workloads/traces/trace.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cachetally;
    try {
        OpenedStream stream = memory_stream("input", {reinterpret_cast<const char*>(data), size});
        char bytes[4096];
        // Some bytes give gigabytes: they are read in constant memory, and would take all of the fuzzer's time.
        for (int i = 0; i < 1000 && stream.stream->read(bytes) > 0; ++i) {
        }
    } catch (const TraceError&) {
    }
    return 0;
}
