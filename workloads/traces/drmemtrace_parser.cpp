// SPDX-License-Identifier: BSD-3-Clause
// The records of DynamoRIO's memory traces.
#include <algorithm>
#include <array>
#include <optional>

#include "workloads/traces/record_parser.hpp"

namespace cachetally {
namespace {

/// trace_entry_t as compilers lay it out: packed for programs of 64 and 32 bits, and with padding.
struct EntryLayout {
    std::size_t bytes, value;
    unsigned value_bytes;
};
constexpr std::array<EntryLayout, 3> entry_layouts{{{12, 4, 8}, {16, 8, 8}, {8, 4, 4}}};

/// trace_type_t (docs/formats-of-others.md).
namespace entry_type {
constexpr unsigned load = 0, store = 1, instruction = 10, last_instruction = 16, bundle = 17, thread = 22, process = 24,
                   header = 25, marker = 28, no_fetch = 29, maybe_fetch = 30, system_enter = 31, taken_jump = 48,
                   untaken_jump = 49, last = 49;
}

constexpr bool is_instruction(unsigned type) {
    return (type >= entry_type::instruction && type <= entry_type::last_instruction) ||
           type == entry_type::system_enter || type == entry_type::taken_jump || type == entry_type::untaken_jump;
}

constexpr std::uint64_t latest_version = 64;  ///< more is no number of a version

/// The layout with which the bytes begin with a header and then a thread, a process or a marker.
const EntryLayout* layout_of(std::string_view bytes) {
    for (const EntryLayout& layout : entry_layouts) {
        if (bytes.size() < layout.bytes + 2 || little_endian(bytes, 0, 2) != entry_type::header) continue;
        const std::uint64_t version = little_endian(bytes, layout.value, layout.value_bytes);
        const std::uint64_t next = little_endian(bytes, layout.bytes, 2);
        if (version >= 1 && version <= latest_version &&
            (next == entry_type::thread || next == entry_type::process || next == entry_type::marker))
            return &layout;
    }
    return nullptr;
}

class DrmemtraceParser : public RecordParser {
public:
    explicit DrmemtraceParser(std::optional<std::uint64_t> wanted) : wanted_(wanted) {}

    std::size_t record(std::string_view bytes, Reference*& out) override {
        if (layout_ == nullptr) {
            if (bytes.size() < 18 && (bytes.empty() || little_endian(bytes, 0, 1) == entry_type::header)) return 0;
            layout_ = layout_of(bytes);
            if (layout_ == nullptr)
                throw RecordError(
                    "a trace begins with a header record of type 25 and then a marker, thread or process; raw traces "
                    "must go through drraw2trace first");
        }
        if (bytes.size() < layout_->bytes) return 0;
        Reference* const before = out;
        read(bytes, static_cast<unsigned>(little_endian(bytes, 0, 2)), out);
        if (wanted_ && *wanted_ != thread_) out = before;
        return layout_->bytes;
    }

protected:
    /// References follow that are of this thread.
    virtual void enter(std::uint64_t thread) {
        if (thread_ && *thread_ != thread && !wanted_)
            throw RecordError(
                "records of thread {} after those of thread {}: a trace of several threads must be given by the name "
                "of its file",
                thread, *thread_);
        thread_ = thread;
    }

private:
    void read(std::string_view bytes, unsigned type, Reference*& out) {
        const auto size = static_cast<std::uint16_t>(little_endian(bytes, 2, 2));
        const Address value = little_endian(bytes, layout_->value, layout_->value_bytes);
        if (type > entry_type::last) throw RecordError("type {}; types are from 0 to 49", type);
        if (type == entry_type::load || type == entry_type::store) {
            put(value, size, type == entry_type::load ? ReferenceKind::load : ReferenceKind::store, out);
        } else if (is_instruction(type)) {
            fetch(value, size, out);
        } else if (type == entry_type::maybe_fetch) {
            if (value != instruction_) fetch(value, size, out);
        } else if (type == entry_type::no_fetch) {
            instruction_ = value;
        } else if (type == entry_type::bundle) {
            bundle(bytes.substr(layout_->value, layout_->value_bytes), size, out);
        } else if (type == entry_type::thread) {
            enter(value);
        }
    }

    /// So many instructions, each behind the one before; the bytes are their lengths.
    void bundle(std::string_view lengths, std::size_t count, Reference*& out) {
        if (count > lengths.size())
            throw RecordError("a bundle of {} instructions; there is room for {}", count, lengths.size());
        for (const char length : lengths.substr(0, count)) fetch(behind_, static_cast<unsigned char>(length), out);
    }

    void fetch(Address address, std::uint16_t size, Reference*& out) {
        put(address, size, ReferenceKind::fetch, out);
        instruction_ = address;
        behind_ = address + size;
    }

    static void put(Address address, std::uint16_t size, ReferenceKind kind, Reference*& out) {
        if (size == 0) return;
        if (address + (size - 1U) < address)
            throw RecordError("the reference runs beyond the end of the address space");
        *out++ = {address, 0, size, kind, 0};
    }

    std::optional<std::uint64_t> wanted_;
    std::optional<std::uint64_t> thread_;
    const EntryLayout* layout_ = nullptr;
    Address instruction_ = ~Address{0}, behind_ = 0;
};

class ThreadLister final : public DrmemtraceParser {
public:
    explicit ThreadLister(std::vector<std::uint64_t>& threads) : DrmemtraceParser({}), threads_(threads) {}

private:
    void enter(std::uint64_t thread) override {
        if (std::ranges::find(threads_, thread) == threads_.end()) threads_.push_back(thread);
    }
    std::vector<std::uint64_t>& threads_;
};

}  // namespace

/// DynamoRIO, clients/drcachesim/common/trace_entry.h: post-processed traces of drmemtrace.
BinaryFormat drmemtrace_format() {
    return {"drmemtrace",
            "DynamoRIO",
            [](std::string_view start, bool) { return layout_of(start) != nullptr ? Fit::certain : Fit::none; },
            {},
            []() -> std::unique_ptr<RecordParser> { return std::make_unique<DrmemtraceParser>(std::nullopt); },
            [](std::uint64_t thread) -> std::unique_ptr<RecordParser> {
                return std::make_unique<DrmemtraceParser>(thread);
            },
            [](std::vector<std::uint64_t>& threads) -> std::unique_ptr<RecordParser> {
                return std::make_unique<ThreadLister>(threads);
            }};
}

}  // namespace cachetally
