// SPDX-License-Identifier: BSD-3-Clause
// Files, pipes, memory, and decompression by libarchive with the filters named one by one.
#include "workloads/traces/byte_stream.hpp"

#include <archive.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

namespace cachetally {
namespace {

constexpr std::size_t start_bytes = std::size_t{64} << 10;
constexpr std::size_t block_bytes = std::size_t{1} << 20;

class DescriptorStream : public ByteStream {
public:
    DescriptorStream(std::string name, int descriptor, std::function<bool()> stop)
        : name_(std::move(name)), descriptor_(descriptor), stop_(std::move(stop)) {
        struct stat status {};
        if (::fstat(descriptor_, &status) == 0 && S_ISDIR(status.st_mode)) {
            ::close(descriptor_);
            throw TraceError("{}: is a directory, not a trace", name_);
        }
        if (S_ISREG(status.st_mode)) size_ = static_cast<std::uint64_t>(status.st_size);
        regular_ = S_ISREG(status.st_mode);
        wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
    ~DescriptorStream() override {
        ::close(descriptor_);
        if (wake_ >= 0) ::close(wake_);
    }
    DescriptorStream(const DescriptorStream&) = delete;
    DescriptorStream& operator=(const DescriptorStream&) = delete;

    bool regular() const { return regular_; }

    std::size_t read(std::span<char> target) override {
        while (true) {
            if (!regular_) wait_for_input();
            if (cancelled_) throw TraceError("{}: reading was interrupted", name_);
            const ssize_t count = ::read(descriptor_, target.data(), target.size());
            // Ctrl-C ends the writer of a pipe as well: its early end is not the trace's.
            if (count == 0 && !regular_ && stop_ && stop_()) cancelled_ = true;
            if (cancelled_) continue;
            if (count >= 0) {
                done_ += static_cast<std::uint64_t>(count);
                return static_cast<std::size_t>(count);
            }
            if (errno != EINTR && errno != EAGAIN)
                throw TraceError("{}: cannot be read: {}", name_, std::strerror(errno));
        }
    }

    void cancel() override {
        cancelled_ = true;
        const std::uint64_t one = 1;
        if (::write(wake_, &one, sizeof one) < 0) return;  // full: it is awake already
    }

    double progress() const override {
        if (!regular_) return -1.0;
        return size_ == 0 ? 1.0 : std::min(1.0, static_cast<double>(done_) / static_cast<double>(size_));
    }

private:
    void wait_for_input() {
        std::array<pollfd, 2> files{{{descriptor_, POLLIN, 0}, {wake_, POLLIN, 0}}};
        const int milliseconds = stop_ ? 100 : -1;
        for (int ready = 0; ready <= 0 && !cancelled_;) {
            ready = ::poll(files.data(), files.size(), milliseconds);
            if (ready < 0 && errno != EINTR) return;  // read() says why
            if (ready <= 0 && stop_ && stop_()) cancelled_ = true;
        }
    }

    std::string name_;
    int descriptor_;
    int wake_ = -1;
    std::function<bool()> stop_;
    bool regular_ = false;
    std::uint64_t size_ = 0;
    std::atomic<std::uint64_t> done_ = 0;
    std::atomic<bool> cancelled_ = false;
};

/// Hands over bytes that are in memory, then the rest, where there is one.
class PrefixedStream : public ByteStream {
public:
    explicit PrefixedStream(std::string prefix, std::unique_ptr<ByteStream> rest = nullptr)
        : prefix_(std::move(prefix)), rest_(std::move(rest)) {}

    std::size_t read(std::span<char> target) override {
        if (rest_ && done_ == prefix_.size()) return rest_->read(target);
        const std::size_t count = prefix_.copy(target.data(), target.size(), done_);
        done_ += count;
        return count;
    }
    void cancel() override {
        if (rest_) rest_->cancel();
    }
    double progress() const override { return rest_ ? rest_->progress() : -1.0; }

private:
    std::string prefix_;
    std::size_t done_ = 0;
    std::unique_ptr<ByteStream> rest_;
};

struct Codec {
    const char* name;
    std::string_view magic;
    int (*enable)(archive*);
    bool has_members = false;  ///< an archive: its members follow one another
};

// Named one by one: with all filters on, libarchive takes some binary traces for LZMA.
constexpr std::array<Codec, 6> codecs{{
    {"gzip", std::string_view("\x1f\x8b", 2), archive_read_support_filter_gzip},
    {"xz", std::string_view("\xfd\x37zXZ\0", 6), archive_read_support_filter_xz},
    {"zstd", std::string_view("\x28\xb5\x2f\xfd", 4), archive_read_support_filter_zstd},
    {"bzip2", std::string_view("BZh", 3), archive_read_support_filter_bzip2},
    {"lz4", std::string_view("\x04\x22\x4d\x18", 4), archive_read_support_filter_lz4},
    {"zip", std::string_view("PK\3\4", 4), archive_read_support_format_zip_streamable, true},
}};

class DecompressedStream : public ByteStream {
public:
    DecompressedStream(std::string name, const Codec& codec, std::unique_ptr<ByteStream> packed)
        : name_(std::move(name)), codec_(codec), packed_(std::move(packed)), input_(block_bytes) {
        archive* reader = archive_.get();
        codec_.enable(reader);
        if (!codec_.has_members) archive_read_support_format_raw(reader);
        archive_read_support_format_empty(reader);
        if (archive_read_open(reader, this, nullptr, feed, nullptr) != ARCHIVE_OK) fail();
        next_member();
        if (!over_ && !codec_.has_members && archive_filter_code(reader, 0) == ARCHIVE_FILTER_NONE)
            throw TraceError("{}: begins as {} and goes on otherwise; the file is damaged", name_, codec_.name);
    }

    std::size_t read(std::span<char> target) override {
        while (!over_) {
            const la_ssize_t count = archive_read_data(archive_.get(), target.data(), target.size());
            if (count < 0) fail();
            if (count > 0) return static_cast<std::size_t>(count);
            next_member();
        }
        return 0;
    }
    void cancel() override { packed_->cancel(); }
    double progress() const override { return packed_->progress(); }

private:
    static la_ssize_t feed(archive* reader, void* self_pointer, const void** buffer) {
        auto& self = *static_cast<DecompressedStream*>(self_pointer);
        *buffer = self.input_.data();
        try {
            return static_cast<la_ssize_t>(self.packed_->read(self.input_));
        } catch (const std::exception& error) {
            archive_set_error(reader, EIO, "%s", error.what());
            return -1;
        }
    }

    void next_member() {
        archive_entry* entry = nullptr;
        const int status = archive_read_next_header(archive_.get(), &entry);
        over_ = status == ARCHIVE_EOF;
        if (status != ARCHIVE_OK && !over_) fail();
    }

    [[noreturn]] void fail() {
        const char* text = archive_error_string(archive_.get());
        throw TraceError("{}: the {} file is damaged or cut off: {}", name_, codec_.name,
                         text == nullptr ? "unknown error" : text);
    }

    struct Free {
        void operator()(archive* reader) const { archive_read_free(reader); }
    };
    std::string name_;
    const Codec& codec_;
    std::unique_ptr<ByteStream> packed_;
    std::vector<char> input_;
    std::unique_ptr<archive, Free> archive_{archive_read_new()};
    bool over_ = false;
};

/// Reads the first bytes, and puts a decompressor before the stream if they say so.
OpenedStream recognised(std::string name, bool seekable, std::unique_ptr<ByteStream> raw) {
    OpenedStream opened{std::move(name), {}, {}, seekable, seekable, std::move(raw)};
    while (opened.start.size() < 8 && opened.read_more()) {
    }
    for (const Codec& codec : codecs) {
        if (!opened.start.starts_with(codec.magic)) continue;
        auto packed = std::make_unique<PrefixedStream>(std::move(opened.start), std::move(opened.stream));
        opened.stream = std::make_unique<DecompressedStream>(opened.name, codec, std::move(packed));
        opened.start.clear();
        opened.packing = codec.name;
        opened.seekable = false;
        break;
    }
    return opened;
}

}  // namespace

bool OpenedStream::read_more() {
    const std::size_t size = start.size();
    start.resize(size + start_bytes);
    const std::size_t count = stream->read(std::span(start).subspan(size));
    start.resize(size + count);
    return count > 0;
}

OpenedStream open_stream(const std::string& path_or_dash, std::function<bool()> stop) {
    const bool standard = path_or_dash == "-";
    const std::string name = standard ? "standard input" : path_or_dash;
    // not blocking: a named pipe may wait for its writer for ever
    const int descriptor = standard ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                    : ::open(path_or_dash.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) throw TraceError("{}: cannot be opened: {}", name, std::strerror(errno));
    auto stream = std::make_unique<DescriptorStream>(name, descriptor, std::move(stop));
    const bool seekable = stream->regular() && !standard;
    return recognised(name, seekable, std::move(stream));
}

OpenedStream memory_stream(std::string name, std::string bytes) {
    return recognised(std::move(name), false, std::make_unique<PrefixedStream>(std::move(bytes)));
}

}  // namespace cachetally
