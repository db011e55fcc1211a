// SPDX-License-Identifier: BSD-3-Clause
// Fuzzer of the readers of binary traces: the first byte chooses the format, the rest is the file.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/trace_text_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cachetally;
    constexpr TraceFormat formats[] = {
#define CACHETALLY_ROW(name) TraceFormat::name,
        CACHETALLY_BINARY_FORMATS(CACHETALLY_ROW)
#undef CACHETALLY_ROW
    };
    if (size == 0) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    fuzz::check_text(formats[*data % std::size(formats)], bytes);
    for (const bool whole : {false, true}) {
        try {
            (void)detect_binary_format("input", bytes, whole);
        } catch (const TraceError&) {
        }
    }
    return 0;
}
