// SPDX-License-Identifier: BSD-3-Clause
// A trace format: rw has lines "r 1f00" and "w 1f00" for loads and stores of 8 bytes. Belongs into workloads/traces/;
// its row is ROW(rw).
#include <cstring>

#include "workloads/traces/text_parser.hpp"

namespace cachetally {
namespace {

constexpr char sample[] = "'r 1f00' or 'w 1f00', with a hexadecimal address";

bool is_rw(std::string_view line) {
    return (line.starts_with("r ") || line.starts_with("w ")) && hex_run(line.substr(2)) == line.size() - 2;
}

class RwParser final : public LineParser {
public:
    const char* example() const override { return sample; }

    ParseResult parse(std::string_view text, Reference* out, Reference* limit) const override {
        ParseResult result;
        for (; !text.empty() && limit - out >= 2; ++result.lines) {
            const std::size_t end = text.find('\n');
            if (!is_rw(text.substr(0, end))) {
                result.error = std::make_unique<LineError>(LineError{1, std::string("a line is like ") + sample});
                break;
            }
            *out = {0, 0, 8, text.front() == 'r' ? ReferenceKind::load : ReferenceKind::store, 0};
            read_hex(text.data() + 2, out++->address);
            text.remove_prefix(end + 1);
        }
        result.next = text.data();
        result.end = out;
        return result;
    }
};

}  // namespace

TextFormat rw_format() {
    return {"rw", "the recipe", is_rw, false,
            [](const TraceOptions&) -> std::unique_ptr<LineParser> { return std::make_unique<RwParser>(); }};
}

}  // namespace cachetally
