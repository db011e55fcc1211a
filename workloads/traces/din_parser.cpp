// SPDX-License-Identifier: BSD-3-Clause
// The text that Dinero reads.
#include <algorithm>

#include "workloads/traces/text_parser.hpp"

namespace cachetally {
namespace {

constexpr char sample[] = "'0 1ffefff0': 0 load, 1 store, 2 fetch, then a hexadecimal address, then perhaps a size";

bool is_blank(char character) { return character == ' ' || character == '\t'; }
bool is_decimal_digit(char character) { return character >= '0' && character <= '9'; }
bool is_end(char character) { return character == '\n' || character == '\r'; }

const char* skip_blanks(const char* text) {
    while (is_blank(*text)) ++text;
    return text;
}

class DinParser : public LineParser {
public:
    DinParser(bool data_only, std::uint16_t default_size) : data_only_(data_only), default_size_(default_size) {}
    const char* example() const override { return sample; }

    ParseResult parse(std::string_view text, Reference* out, Reference* limit) const override {
        const char* line = text.data();
        const char* const end = line + text.size();
        ParseResult result;
        while (line < end && limit - out >= 2) {
            Line parsed = parse_line(line);
            if (parsed.error) {
                result.error = std::move(parsed.error);
                break;
            }
            result.skipped += parsed.made ? 0 : 1;
            if (parsed.made && !(data_only_ && parsed.reference.kind == ReferenceKind::fetch))
                *out++ = parsed.reference;
            ++result.lines;
            line = next_line(line, end);
        }
        result.next = line;
        result.end = out;
        return result;
    }

private:
    struct Line {
        Reference reference;
        bool made = false;
        std::unique_ptr<LineError> error;
    };

    static Line wrong(const char* line, const char* place, const std::string& what) {
        return {{}, false, line_error(line, place, what, sample)};
    }

    Line parse_line(const char* line) const {
        const char* label = skip_blanks(line);
        if (is_end(*label)) return {};
        if (*label < '0' || *label > '4' || !is_blank(label[1]))
            return wrong(line, label, "a line begins with a label from 0 to 4");
        const char* digits = skip_blanks(label + 1);
        if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) digits += 2;
        Line result;
        const char* behind = read_hex(digits, result.reference.address);
        if (behind == digits) return wrong(line, digits, "the hexadecimal address is missing");
        if (behind - digits > 16) return wrong(line, digits, "an address has at most 16 digits");
        if (!is_blank(*behind) && !is_end(*behind)) return wrong(line, behind, "the address has a digit that is none");
        if (*label > '2') return {};

        std::uint32_t size = default_size_;
        const char* number = skip_blanks(behind);
        if ((*number == '-' || *number == '+') && is_decimal_digit(number[1]))
            return wrong(line, number, "a size is from 1 to 65535, without a sign");
        if (is_decimal_digit(*number)) {
            const char* after = read_decimal(number, size);
            if (!is_blank(*after) && !is_end(*after)) return wrong(line, after, "the size is not a decimal number");
            if (size == 0 || size > 65535) return wrong(line, number, "a size is from 1 to 65535");
        }
        if (result.reference.address + (size - 1) < result.reference.address)
            return wrong(line, digits, "the reference runs beyond the end of the address space");
        result.reference.size = static_cast<std::uint16_t>(size);
        result.reference.kind = static_cast<ReferenceKind>(*label - '0');
        result.made = true;
        return result;
    }

    bool data_only_;
    std::uint16_t default_size_;
};

bool is_din(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.size() < 3 || line[0] < '0' || line[0] > '4' || (line[1] != ' ' && line[1] != '\t')) return false;
    line.remove_prefix(std::min(line.find_first_not_of(" \t", 1), line.size()));
    if (line.starts_with("0x") || line.starts_with("0X")) line.remove_prefix(2);
    const std::size_t digits = hex_run(line);
    return digits > 0 && digits <= 16 && (line.size() == digits || line[digits] == ' ' || line[digits] == '\t');
}

}  // namespace

/// Dinero III/IV din (dineroIII manual page): "LABEL ADDRESS", label 0 load, 1 store, 2 fetch; then, in our extension,
/// a decimal size, else references are TraceOptions::din_reference_bytes long; further text is a comment. Labels 3
/// (unknown) and 4 (flush) are skipped.
TextFormat din_format() {
    return {"din", "Dinero", is_din, false, [](const TraceOptions& options) -> std::unique_ptr<LineParser> {
                return std::make_unique<DinParser>(options.data_only, options.din_reference_bytes);
            }};
}

}  // namespace cachetally
