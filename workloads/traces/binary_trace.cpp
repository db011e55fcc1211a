// SPDX-License-Identifier: BSD-3-Clause
// Binary traces as blocks of references.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "workloads/traces/block_source.hpp"
#include "workloads/traces/record_parser.hpp"

namespace cachetally {
namespace {

constexpr std::size_t least_record_buffer = std::size_t{16} << 10;
constexpr std::size_t longest_record = std::size_t{1} << 20;
constexpr std::size_t references_of_block = 16384;

class RecordProducer : public BlockProducer {
public:
    RecordProducer(OpenedStream opened, const BinaryFormat& format, std::unique_ptr<RecordParser> parser,
                   const TraceOptions& options)
        : name_(std::move(opened.name)),
          packing_(std::move(opened.packing)),
          stream_(std::move(opened.stream)),
          format_(format),
          parser_(std::move(parser)),
          notes_(options.notes),
          data_only_(options.data_only),
          buffer_(std::max({least_record_buffer, options.buffer_bytes, opened.start.size()})) {
        filled_ = opened.start.copy(buffer_.data(), opened.start.size());
    }

    void produce(ReferenceBlock& block, const std::optional<FilterPlan>&) override {
        Reference* const begin = block.start(references_of_block);
        Reference* const limit = begin + references_of_block;
        Reference* out = begin;
        while (!failure_ && !block.last && limit - out >= static_cast<std::ptrdiff_t>(most_of_record)) {
            try {  // what is thrown is kept until what came before it is handed over
                block.last = !read_record(out);
            } catch (const RecordError& error) {
                failure_ = std::make_exception_ptr(TraceError(at(error.what())));
            } catch (...) {
                failure_ = std::current_exception();
            }
        }
        if (failure_ && out == begin) std::rethrow_exception(failure_);
        block.set_size(static_cast<std::size_t>(out - begin));
        if (data_only_) keep_data_only(block);
    }

    void cancel() override { stream_->cancel(); }
    double progress() const override { return stream_->progress(); }

private:
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

    bool end() const {
        if (filled_ != used_)
            throw TraceError(at(fmt::format("the file ends within a record, {} bytes into it", filled_ - used_)));
        if (records_ == 0) throw TraceError(fmt::format("{}: holds no record of {}", name_, format_.name));
        return false;
    }

    /// Reads more than there is behind `used_`; false at the end.
    bool read_more() {
        std::memmove(buffer_.data(), buffer_.data() + used_, filled_ - used_);
        offset_ += used_;
        filled_ -= used_;
        used_ = 0;
        if (filled_ == buffer_.size()) {
            if (filled_ > longest_record) throw std::logic_error("a record is longer than records may be");
            buffer_.resize(2 * filled_);
        }
        const std::size_t count = stream_->read(std::span(buffer_).subspan(filled_));
        filled_ += count;
        return count > 0;
    }

    std::string at(std::string_view what) const {
        return fmt::format(
            "{}: byte {}, record {} of {}: {}{}", name_, offset_ + used_, records_ + 1, format_.name, what,
            packing_.empty() ? "" : fmt::format(" (bytes count behind the {} file's packing)", packing_));
    }

    std::string name_;
    std::string packing_;
    std::unique_ptr<ByteStream> stream_;
    const BinaryFormat& format_;
    std::unique_ptr<RecordParser> parser_;
    std::shared_ptr<TextNotes> notes_;
    bool data_only_;
    std::vector<char> buffer_;  ///< [0, used_) was parsed, [used_, filled_) is to be
    std::size_t used_ = 0, filled_ = 0;
    std::uint64_t offset_ = 0;  ///< of the buffer
    std::uint64_t records_ = 0;
    std::exception_ptr failure_;
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
