// SPDX-License-Identifier: BSD-3-Clause
// The packets that gem5's probes and CommMonitors write: Protocol Buffers, decoded by hand as the messages are two.
#include <array>
#include <optional>

#include "workloads/traces/record_parser.hpp"

namespace cachetally {
namespace {

constexpr std::string_view gem5_magic = "gem5";
constexpr std::uint64_t longest_message = std::size_t{1} << 19;

/// How values lie in a message.
enum class Wire : std::uint8_t { varint = 0, eight_bytes = 1, counted = 2, four_bytes = 5 };

/// Takes bytes from the beginning of a text.
class Decoder {
public:
    explicit Decoder(std::string_view bytes) : bytes_(bytes) {}
    bool empty() const { return bytes_.empty(); }
    std::string_view rest() const { return bytes_; }

    /// 7 bits a byte, the lowest first; the highest bit says that there are more. Nothing where the bytes end before.
    std::optional<std::uint64_t> varint() {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < bytes_.size() && i < 10; ++i) {
            const auto byte = static_cast<unsigned char>(bytes_[i]);
            value |= std::uint64_t{byte & 0x7fU} << (7 * i);
            if (byte < 0x80) {
                bytes_.remove_prefix(i + 1);
                return value;
            }
        }
        if (bytes_.size() >= 10) throw RecordError("a number of more than 10 bytes");
        return {};
    }

    std::uint64_t number() {
        const auto value = varint();
        if (!value) throw RecordError("the message ends within a number");
        return *value;
    }
    void skip(std::uint64_t count) {
        if (count > bytes_.size()) throw RecordError("a field of {} bytes in a message of fewer", count);
        bytes_.remove_prefix(count);
    }

private:
    std::string_view bytes_;
};

/// Fields 1 to 7 of a message, as far as they are numbers; others are passed over.
struct Message {
    std::array<std::optional<std::uint64_t>, 8> numbers;
    bool has_text = false;  ///< field 1 is one, as in headers
};

Message decode(std::string_view bytes) {
    Message message;
    for (Decoder decoder(bytes); !decoder.empty();) {
        const std::uint64_t key = decoder.number();
        const auto wire = static_cast<Wire>(key & 7);
        const std::uint64_t field = key >> 3;
        if (wire == Wire::varint) {
            const std::uint64_t value = decoder.number();
            if (field < message.numbers.size()) message.numbers[field] = value;
        } else if (wire == Wire::counted) {
            decoder.skip(decoder.number());
            message.has_text = message.has_text || field == 1;
        } else if (wire == Wire::eight_bytes || wire == Wire::four_bytes) {
            decoder.skip(wire == Wire::eight_bytes ? 8 : 4);
        } else {
            throw RecordError("a field of the unknown kind {}; this is no message of gem5", key & 7);
        }
    }
    return message;
}

/// Fields of ProtoMessage.Packet, gem5's src/proto/packet.proto; commands of MemCmd, of which only these have had the
/// same numbers in all versions.
namespace packet_field {
constexpr std::size_t tick = 1, command = 2, address = 3, size = 4, flags = 5;
}
constexpr std::uint64_t read_request = 1, write_request = 4, fetch_flag = 0x100;

class Gem5Parser final : public RecordParser {
public:
    std::size_t record(std::string_view bytes, Reference*& out) override {
        std::size_t begin = 0;
        if (!has_header_) {
            if (!gem5_magic.starts_with(bytes.substr(0, gem5_magic.size())))
                throw RecordError("a trace of packets begins with the letters gem5");
            if (bytes.size() <= gem5_magic.size()) return 0;
            begin = gem5_magic.size();
        }
        Decoder decoder(bytes.substr(begin));
        const auto length = decoder.varint();
        if (!length) return 0;
        if (*length > longest_message)
            throw RecordError("a message of {} bytes; they have at most {}", *length, longest_message);
        if (*length > decoder.rest().size()) return 0;
        const Message message = decode(decoder.rest().substr(0, *length));
        if (has_header_) {
            read_packet(message, out);
        } else {
            check_header(message);
        }
        return bytes.size() - decoder.rest().size() + *length;
    }

private:
    /// Other traces of gem5 begin with the same letters: instructions, and elastic traces, have a number in field 4.
    void check_header(const Message& message) {
        if (!message.has_text || !message.numbers[3] || message.numbers[4])
            throw RecordError(
                "the header is not one of packets; traces of instructions and elastic traces are not read");
        has_header_ = true;
    }

    static void read_packet(const Message& message, Reference*& out) {
        const auto& numbers = message.numbers;
        for (const std::size_t field :
             {packet_field::tick, packet_field::command, packet_field::address, packet_field::size})
            if (!numbers[field])
                throw RecordError(
                    "a packet without field {}; it has a tick (1), a command (2), an address (3) and a size (4)",
                    field);
        const std::uint64_t command = *numbers[packet_field::command], size = *numbers[packet_field::size];
        const Address address = *numbers[packet_field::address];
        if ((command != read_request && command != write_request) || size == 0) return;
        if (size > 65535) throw RecordError("a packet of {} bytes; they have at most 65535", size);
        if (address + (size - 1) < address) throw RecordError("the packet runs beyond the end of the address space");
        const bool is_fetch = (numbers[packet_field::flags].value_or(0) & fetch_flag) != 0;
        const ReferenceKind read = is_fetch ? ReferenceKind::fetch : ReferenceKind::load;
        *out++ = {address, 0, static_cast<std::uint16_t>(size), command == write_request ? ReferenceKind::store : read,
                  0};
    }

    bool has_header_ = false;
};

}  // namespace

/// gem5: MemTraceProbe and CommMonitor traces, src/proto/packet.proto.
BinaryFormat gem5_format() {
    return {"gem5",
            "gem5 packets",
            [](std::string_view start, bool) { return start.starts_with(gem5_magic) ? Fit::certain : Fit::none; },
            {},
            []() -> std::unique_ptr<RecordParser> { return std::make_unique<Gem5Parser>(); }};
}

}  // namespace cachetally
