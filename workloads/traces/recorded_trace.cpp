// SPDX-License-Identifier: BSD-3-Clause
// Text and binary traces as blocks of references.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "workloads/traces/block.hpp"
#include "workloads/traces/record_parser.hpp"
#include "workloads/traces/text_parser.hpp"
#include "workloads/traces/trace.hpp"

namespace cachetally {

namespace {

constexpr std::size_t least_buffer = std::size_t{16} << 10;
constexpr std::size_t most_references = 16384;  ///< of a block

/// What both kinds have in common: a stream, and the part of it that is in a buffer.
class StreamProducer : public BlockProducer {
public:
    void produce(ReferenceBlock& block, const std::optional<FilterPlan>&) final {
        Reference* const begin = block.start(block_references_);
        Reference* const limit = begin + block_references_;
        Reference* out = begin;
        while (!failure_ && !block.last && limit - out >= room_) {
            try {
                block.last = !read(out, limit);
            } catch (...) {  // kept until what came before it is handed over
                failure_ = std::current_exception();
            }
        }
        if (failure_ && out == begin) std::rethrow_exception(failure_);
        block.set_size(static_cast<std::size_t>(out - begin));
        if (data_only_) keep_data_only(block);
    }

    void cancel() final { stream_->cancel(); }
    double progress() const final { return stream_->progress(); }

protected:
    /// The buffer has room for so many `starts` of the stream; `room`: references that read() may add at once.
    StreamProducer(OpenedStream opened, const TraceOptions& options, std::size_t starts, std::ptrdiff_t room)
        : name_(std::move(opened.name)),
          packing_(std::move(opened.packing)),
          stream_(std::move(opened.stream)),
          notes_(options.notes),
          buffer_(std::max({least_buffer, options.buffer_bytes, starts * opened.start.size()})),
          filled_(opened.start.copy(buffer_.data(), opened.start.size())),
          block_references_(most_references),
          room_(room) {}

    /// Adds references at `out`, for which there is room; false at the end.
    virtual bool read(Reference*& out, Reference* limit) = 0;

    /// Moves what is not used yet to the beginning of the buffer.
    void drop_used() {
        std::memmove(buffer_.data(), buffer_.data() + used_, filled_ - used_);
        filled_ -= used_;
        used_ = 0;
    }

    /// Words about the file's packing, where it has one.
    std::string about_packing(fmt::format_string<std::string&> words) {
        return packing_.empty() ? "" : fmt::format(words, packing_);
    }

    std::string name_;
    std::string packing_;
    std::unique_ptr<ByteStream> stream_;
    std::shared_ptr<TextNotes> notes_;
    std::vector<char> buffer_;  ///< [0, used_) was parsed
    std::size_t used_ = 0, filled_ = 0;
    std::size_t block_references_;
    bool data_only_ = false;  ///< fetches are taken out of blocks

private:
    std::ptrdiff_t room_;
    std::exception_ptr failure_;
};

constexpr std::size_t longest_line = 4096;  ///< what is behind that is not looked at

class TextProducer final : public StreamProducer {
public:
    TextProducer(OpenedStream opened, std::unique_ptr<LineParser> parser, const TraceOptions& options)
        : StreamProducer(std::move(opened), options, 2, 2), parser_(std::move(parser)) {
        block_references_ = std::min(block_references_, buffer_.size() / 4);
    }

private:
    bool read(Reference*& out, Reference* limit) override {
        if (used_ == whole_) return read_lines();
        parse(out, limit);
        return true;
    }

    /// Parses whole lines.
    void parse(Reference*& out, Reference* limit) {
        ParseResult result = parser_->parse({buffer_.data() + used_, whole_ - used_}, out, limit);
        used_ = static_cast<std::size_t>(result.next - buffer_.data());
        lines_ += result.lines;
        made_ = made_ || result.end != out || result.lines > result.skipped;
        if (notes_) {
            notes_->lines += result.lines;
            notes_->skipped += result.skipped;
        }
        out = result.end;
        if (result.error)
            throw TraceError("{}:{}:{}: {}{}", name_, lines_ + 1, result.error->column, result.error->message,
                             about_packing(" (or the {} file is damaged before this)"));
    }

    /// Reads until there is a whole line; false at the end.
    bool read_lines() {
        drop_used();
        whole_ = 0;
        if (find_lines(0)) return true;
        while (!over_) {
            // Drops the middle of a line that fills the buffer: what is behind its beginning means nothing.
            if (filled_ + 1 >= buffer_.size()) filled_ = longest_line;
            const std::size_t before = filled_;
            const std::size_t count = stream_->read(std::span(buffer_).subspan(filled_, buffer_.size() - 1 - filled_));
            filled_ += count;
            over_ = count == 0;
            if (over_ && filled_ > 0) buffer_[filled_++] = '\n';  // the last line lacks its end
            if (find_lines(before)) return true;
        }
        if (!made_) throw TraceError("{}: holds no line of the trace; one is like {}", name_, parser_->example());
        return false;
    }

    /// Looks for the last line feed behind `from`.
    bool find_lines(std::size_t from) {
        if (filled_ == from) return false;
        const void* last = ::memrchr(buffer_.data() + from, '\n', filled_ - from);
        if (last == nullptr) return false;
        whole_ = static_cast<std::size_t>(static_cast<const char*>(last) - buffer_.data()) + 1;
        return true;
    }

    std::unique_ptr<LineParser> parser_;
    std::size_t whole_ = 0;  ///< [used_, whole_) are whole lines, [whole_, filled_) a part
    std::uint64_t lines_ = 0;
    bool made_ = false;  ///< there was a line of the trace
    bool over_ = false;
};

}  // namespace

std::unique_ptr<ReferenceSource> open_text_trace(OpenedStream stream, TraceFormat format, const TraceOptions& options) {
    std::vector<std::unique_ptr<BlockProducer>> producers;
    producers.push_back(std::make_unique<TextProducer>(std::move(stream), text_format(format).make(options), options));
    return make_block_source(std::move(producers), {}, options.ahead);
}

namespace {

constexpr std::size_t longest_record = std::size_t{1} << 20;

class RecordProducer final : public StreamProducer {
public:
    RecordProducer(OpenedStream opened, const BinaryFormat& format, std::unique_ptr<RecordParser> parser,
                   const TraceOptions& options)
        : StreamProducer(std::move(opened), options, 1, most_of_record), format_(format), parser_(std::move(parser)) {
        data_only_ = options.data_only;
    }

private:
    bool read(Reference*& out, Reference* limit) override {
        try {
            while (limit - out >= static_cast<std::ptrdiff_t>(most_of_record))
                if (!read_record(out)) return false;
            return true;
        } catch (const RecordError& error) {
            throw TraceError(at(error.what()));
        }
    }

    /// False at the end.
    bool read_record(Reference*& out) {
        Reference* const before = out;
        std::size_t length = 0;
        while ((length = parser_->record({buffer_.data() + used_, filled_ - used_}, out)) == 0)
            if (!read_more()) return end();
        used_ += length;
        ++records_;
        if (notes_) {
            ++notes_->lines;
            if (out == before) ++notes_->skipped;
        }
        return true;
    }

    bool end() {
        if (filled_ != used_)
            throw TraceError(at(fmt::format("the file ends within a record, {} bytes into it", filled_ - used_)));
        if (records_ == 0) throw TraceError("{}: holds no record of {}", name_, format_.name);
        return false;
    }

    /// Reads more than there is behind `used_`; false at the end.
    bool read_more() {
        offset_ += used_;
        drop_used();
        if (filled_ == buffer_.size()) {
            if (filled_ > longest_record) throw std::logic_error("a record is longer than records may be");
            buffer_.resize(2 * filled_);
        }
        const std::size_t count = stream_->read(std::span(buffer_).subspan(filled_));
        filled_ += count;
        return count > 0;
    }

    std::string at(std::string_view what) {
        return fmt::format("{}: byte {}, record {} of {}: {}{}", name_, offset_ + used_, records_ + 1, format_.name,
                           what, about_packing(" (bytes count behind the {} file's packing)"));
    }

    const BinaryFormat& format_;
    std::unique_ptr<RecordParser> parser_;
    std::uint64_t offset_ = 0;  ///< of the buffer
    std::uint64_t records_ = 0;
};

/// Reads the whole file for its threads, in the order of their first records.
std::vector<std::uint64_t> threads_of(const OpenedStream& file, const BinaryFormat& format,
                                      const TraceOptions& options) {
    std::vector<std::uint64_t> threads;
    RecordProducer producer(open_stream(file.name, options.stop), format, format.make_listing(threads), options);
    ReferenceBlock block;
    try {
        while (!block.last) producer.produce(block, {});
    } catch (const TraceError&) {  // reported again when the references before it were read
    }
    return threads;
}

}  // namespace

std::unique_ptr<ReferenceSource> open_binary_trace(OpenedStream stream, TraceFormat format,
                                                   const TraceOptions& options) {
    const BinaryFormat& known = binary_format(format);
    std::vector<std::unique_ptr<BlockProducer>> producers;
    if (known.make_listing != nullptr && stream.is_file) {
        TraceOptions each = options;
        each.notes = std::make_shared<TextNotes>();
        const std::vector<std::uint64_t> threads = threads_of(stream, known, each);
        if (threads.size() > 1 && options.notes) {
            options.notes->lines += each.notes->lines;
            options.notes->skipped += each.notes->skipped;
        }
        each.notes = nullptr;
        for (std::size_t i = 0; threads.size() > 1 && i < threads.size(); ++i)
            producers.push_back(std::make_unique<RecordProducer>(open_stream(stream.name, options.stop), known,
                                                                 known.make_thread(threads[i]), each));
    }
    if (producers.empty())
        producers.push_back(std::make_unique<RecordProducer>(std::move(stream), known, known.make(), options));
    return make_block_source(std::move(producers), {}, options.ahead);
}

}  // namespace cachetally
