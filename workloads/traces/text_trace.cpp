// SPDX-License-Identifier: BSD-3-Clause
// Text traces as blocks of references.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "workloads/traces/block_source.hpp"
#include "workloads/traces/text_parser.hpp"
#include "workloads/traces/trace.hpp"

namespace cachetally {
namespace {

constexpr std::size_t least_buffer = std::size_t{16} << 10;
constexpr std::size_t longest_line = 4096;      ///< what is behind that is not looked at
constexpr std::size_t most_references = 16384;  ///< of a block

class TextProducer : public BlockProducer {
public:
    TextProducer(OpenedStream opened, std::unique_ptr<LineParser> parser, const TraceOptions& options)
        : name_(std::move(opened.name)),
          packing_(std::move(opened.packing)),
          stream_(std::move(opened.stream)),
          parser_(std::move(parser)),
          notes_(options.notes),
          buffer_(std::max({least_buffer, options.buffer_bytes, 2 * opened.start.size()})),
          block_references_(std::min(most_references, buffer_.size() / 4)) {
        std::copy(opened.start.begin(), opened.start.end(), buffer_.begin());
        filled_ = opened.start.size();
    }

    void produce(ReferenceBlock& block, const std::optional<FilterPlan>&) override {
        Reference* const begin = block.start(block_references_);
        Reference* const limit = begin + block_references_;
        Reference* out = begin;
        while (!failure_ && !block.last && limit - out >= 2) {
            if (used_ < whole_) {
                out = parse(out, limit);
                continue;
            }
            try {
                block.last = !read_lines();
            } catch (...) {  // kept until what came before it is handed over
                failure_ = std::current_exception();
            }
        }
        if (failure_ && out == begin) std::rethrow_exception(failure_);
        block.set_size(static_cast<std::size_t>(out - begin));
    }

    void cancel() override { stream_->cancel(); }
    double progress() const override { return stream_->progress(); }

private:
    /// Parses whole lines. An error is reported when the references before it were handed over.
    Reference* parse(Reference* out, Reference* limit) {
        ParseResult result = parser_->parse({buffer_.data() + used_, whole_ - used_}, out, limit);
        used_ = static_cast<std::size_t>(result.next - buffer_.data());
        lines_ += result.lines;
        made_ = made_ || result.end != out || result.lines > result.skipped;
        if (notes_) {
            notes_->lines += result.lines;
            notes_->skipped += result.skipped;
        }
        if (result.error)
            failure_ = std::make_exception_ptr(TraceError(fmt::format(
                "{}:{}:{}: {}{}", name_, lines_ + 1, result.error->column, result.error->message,
                packing_.empty() ? "" : fmt::format(" (or the {} file is damaged before this)", packing_))));
        return result.end;
    }

    /// Reads until there is a whole line; false at the end.
    bool read_lines() {
        std::memmove(buffer_.data(), buffer_.data() + used_, filled_ - used_);
        filled_ -= used_;
        used_ = whole_ = 0;
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
        if (!made_)
            throw TraceError(fmt::format("{}: holds no line of the trace; one is like {}", name_, parser_->example()));
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

    std::string name_;
    std::string packing_;
    std::unique_ptr<ByteStream> stream_;
    std::unique_ptr<LineParser> parser_;
    std::shared_ptr<TextNotes> notes_;
    std::vector<char> buffer_;  ///< [0, used_) was parsed, [used_, whole_) are whole lines, [whole_, filled_) a part
    std::size_t block_references_;
    std::size_t used_ = 0, whole_ = 0, filled_ = 0;
    std::uint64_t lines_ = 0;
    bool made_ = false;  ///< there was a line of the trace
    bool over_ = false;
    std::exception_ptr failure_;
};

}  // namespace

std::unique_ptr<ReferenceSource> open_text_trace(OpenedStream stream, TraceFormat format, const TraceOptions& options) {
    std::vector<std::unique_ptr<BlockProducer>> producers;
    producers.push_back(std::make_unique<TextProducer>(std::move(stream), text_format(format).make(options), options));
    return make_block_source(std::move(producers), {}, options.ahead);
}

}  // namespace cachetally
