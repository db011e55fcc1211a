// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/capture/capture_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/text.hpp"
#include "workloads/capture/ring.h"
#include "workloads/traces/byte_stream.hpp"
#include "workloads/traces/source_window.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t address_bits = (std::uint64_t{1} << CT_ADDRESS_BITS) - 1;

Reference data_reference(std::uint64_t word, std::uint32_t site) {
    return {word & address_bits, site, static_cast<std::uint16_t>((word >> CT_SIZE_SHIFT & (CT_MOST_SIZE - 1)) + 1),
            (word & CT_STORE) != 0 ? ReferenceKind::store : ReferenceKind::load, 0};
}

[[noreturn]] void refuse(const std::string& what) {
    throw TraceError("the captured program's ring is damaged: " + what);
}

}  // namespace

CaptureDecoder::CaptureDecoder(const DecoderOptions& options, SiteTable* sites,
                               std::function<std::optional<CapturedChunk>()> next,
                               std::function<void(const CapturedChunk&)> release)
    : options_(options),
      next_(std::move(next)),
      release_(std::move(release)),
      code_(options.fetches),
      streams_(options.cores),
      current_(&streams_.front()),
      has_begun_(options.from.empty()) {
    if (sites != nullptr) sites_.emplace(*sites, options.fields);
}

void CaptureDecoder::take(unsigned core, ReferenceBlock& block, std::size_t references, bool sites) {
    wants_sites_ = sites;
    if (options_.cores == 1) options_.window = references;
    Stream& stream = streams_[core];
    while (stream.ready.empty()) {
        if (over_) throw TraceError(how_it_ended());
        make_window();
    }
    std::swap(block, stream.ready.front());
    stream.spare.push_back(std::move(stream.ready.front()));
    stream.ready.pop_front();
}

std::string CaptureDecoder::how_it_ended() const {
    if (!has_begun_) {
        const std::vector<std::string> names = ProgramNames(events_.files).functions();
        const bool exists =
            std::ranges::any_of(names, [&](const auto& name) { return is_function(name, options_.from); });
        return fmt::format("--from: the program never entered {}'{}'{}", exists ? "" : "a function ",
                           shown(options_.from), exists ? "" : function_advice(options_.from, names));
    }
    if (!events_.end) return "valgrind gave up before the end of the program; what came before that is known";
    return ended_by(*events_.end);
}

/// Until enough references are made, a phase ends, or the program does.
void CaptureDecoder::make_window() {
    window_is_open_ = true;
    in_window_ = 0;
    while (window_is_open_) {
        const bool in_pairs = chunk_ && pairs_ != chunk_->pairs.size();
        if (!in_pairs && runs_ == 0 && !next_chunk()) {
            over_ = true;
            const bool whole = (events_.end && events_.end->signal == 0) || !events_.executed.empty();
            end_window(whole && has_begun_ ? std::nullopt : std::optional(Control{}));
        } else {
            if (runs_ != 0) take_run();
            if (pairs_ != chunk_->pairs.size()) take_pairs();
            if (window_is_open_ && in_window_ >= options_.window)
                end_window(options_.cores == 1 ? Control{} : Control{Control::Kind::meet, 0});
        }
    }
}

bool CaptureDecoder::next_chunk() {
    if (chunk_) release_(*chunk_);
    chunk_ = next_();
    if (!chunk_) return false;
    data_ = 0;
    runs_ = chunk_->runs.size();
    pairs_ = 0;
    if (!chunk_->pairs.empty()) turn_to_thread(chunk_->thread);
    return true;
}

std::uint64_t CaptureDecoder::data_word() {
    if (data_ == chunk_->data.size()) refuse("a run has fewer data words than its exit says");
    return chunk_->data[data_++];
}

void CaptureDecoder::take_run() {
    const std::uint64_t run = chunk_->runs[runs_ - 1];
    if (CT_RUN_KIND(run) == 0) return take_exits();
    --runs_;
    CT_RUN_KIND(run) == 1 ? take_control(run) : take_site(run);
}

/// The references up to `next` were made.
void CaptureDecoder::advance(Reference* next) {
    in_window_ += static_cast<std::uint64_t>(next - current_->next);
    current_->next = next;
}

/// Up to another word, the end of the window, or a new exit. All references are copied, and then filled from the data;
/// where there are no fetches, their sites are copied: then comes a loop that knows no exits, as their lengths are hard
/// to predict.
void CaptureDecoder::take_exits() {
    const std::uint64_t* const runs = chunk_->runs.data();
    const auto words = chunk_->data.subspan(data_);
    const bool data_alone = options_.fetches == CapturedFetches::none;
    Reference* const begin = room(0);
    const auto space = static_cast<std::size_t>(current_->limit - begin);
    const std::uint64_t most = std::min<std::uint64_t>(space, options_.window - std::min(options_.window, in_window_));
    numbers_.resize(std::max(numbers_.size(), std::min(words.size(), space) + CapturedCode::slack));
    const std::size_t runs_before = runs_;
    std::size_t made = 0, placed = 0;
    for (; runs_ != 0 && CT_RUN_KIND(runs[runs_ - 1]) == 0 && made < most; --runs_) {
        const CodeExit* const exit = code_.exit(static_cast<std::uint32_t>(runs[runs_ - 1]));
        if (exit == nullptr || exit->references > space - made || exit->data_words > words.size() - placed) break;
        if (!data_alone) {
            if (exit->is_new) break;
            copy(*exit, begin + made, static_cast<std::uint32_t>(made), numbers_.data() + placed);
        } else if (wants_sites_) {
            copy(code_.codes(*exit), exit->data_words, 0, numbers_.data() + placed);
        }
        made += exit->references;
        placed += exit->data_words;
    }
    data_ += placed;
    advance(!data_alone    ? fill(words.first(placed), {begin, made})
            : wants_sites_ ? make_data<true>(words.first(placed), begin)
                           : make_data<false>(words.first(placed), begin));
    if (runs_ != runs_before) return;
    CodeExit* const exit = code_.exit(static_cast<std::uint32_t>(runs[runs_ - 1]));
    if (exit == nullptr) refuse(fmt::format("there is no exit {}", static_cast<std::uint32_t>(runs[runs_ - 1])));
    if (exit->data_words > words.size()) refuse("a run has fewer data words than its exit says");
    --runs_;
    take_new_exit(*exit);
}

/// Numbers of an exit's data words, increased by `first`. Most are few, so that some are copied in any case.
void CaptureDecoder::copy(const std::uint32_t* from, std::size_t count, std::uint32_t first, std::uint32_t* to) {
    constexpr std::size_t at_once = CapturedCode::slack;
    std::array<std::uint32_t, at_once> some;  // NOLINT: filled by the next line
    std::memcpy(some.data(), from, sizeof some);
    for (std::uint32_t& number : some) number += first;
    std::memcpy(to, some.data(), sizeof some);
    for (std::size_t i = at_once; i < count; ++i) to[i] = first + from[i];
}

/// The references of an exit, the first of which is number `first`.
void CaptureDecoder::copy(const CodeExit& exit, Reference* to, std::uint32_t first, std::uint32_t* places) {
    constexpr std::size_t at_once = 4;
    const Reference* const references = code_.references(exit);
    std::memcpy(static_cast<void*>(to), references, at_once * sizeof(Reference));
    if (exit.references > at_once) std::memcpy(static_cast<void*>(to), references, exit.references * sizeof(Reference));
    copy(code_.places(exit), exit.data_words, first, places);
}

/// Returns the end of the references.
Reference* CaptureDecoder::fill(std::span<const std::uint64_t> words, std::span<Reference> references) {
    bool is_whole = true;
    for (std::size_t i = 0; i < words.size(); ++i) {
        Reference& reference = references[numbers_[i]];
        if (words[i] == CT_NO_REFERENCE) [[unlikely]] {
            is_whole = false;
        } else {
            reference = data_reference(words[i], site_of(reference.site, words[i]));
        }
    }
    Reference* const end = references.data() + references.size();
    if (is_whole) return end;
    return std::remove_if(references.data(), end, [](const Reference& reference) { return reference.size == 0; });
}

template <bool sites>
Reference* CaptureDecoder::make_data(std::span<const std::uint64_t> words, Reference* to) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        *to = data_reference(words[i], sites ? site_of(numbers_[i], words[i]) : 0);
        to += words[i] != CT_NO_REFERENCE;
    }
    return to;
}

/// Sites get their numbers in program order, so that a new exit's references are made one by one.
void CaptureDecoder::take_new_exit(CodeExit& exit) {
    Reference* next = room(exit.references);
    Reference* const references = code_.references(exit);
    for (std::uint32_t i = 0; i < exit.references; ++i) {
        if (references[i].size != 0) {
            if (exit.is_new && sites_) references[i].site = sites_->of_fetch(references[i].site);
            *next++ = references[i];
            continue;
        }
        const std::uint64_t word = data_word();
        *next = data_reference(word, site_of(references[i].site, word));
        next += word != CT_NO_REFERENCE;
    }
    exit.is_new = false;
    advance(next);
}

std::uint32_t CaptureDecoder::site_of(std::uint32_t code, std::uint64_t word) {
    if (!sites_ || word == CT_NO_REFERENCE) return code;
    return sites_->of_data(code, word & address_bits);
}

void CaptureDecoder::take_site(std::uint64_t run) {
    const std::uint32_t code = code_.counters().number(run & address_bits);
    const std::size_t words = std::max<std::size_t>(1, run >> 48 & 0x3fff);
    Reference* next = room(words);
    for (std::size_t i = 0; i < words; ++i) {
        const std::uint64_t word = data_word();
        *next++ = data_reference(word, site_of(code, word));
    }
    advance(next);
}

/// Until the next control, or the end of the chunk, the block or the window.
void CaptureDecoder::take_pairs() {
    const std::span<const std::uint64_t> words = chunk_->pairs;
    if (CT_RUN_KIND(words[pairs_]) != 0) {
        const std::size_t count = words[pairs_] >> 16 & 0xffffffff;
        if (count >= words.size() - pairs_) refuse("a control is longer than its chunk");
        const auto control = words.subspan(pairs_, count + 1);
        pairs_ = std::min(words.size(), pairs_ + (count + 2) / 2 * 2);
        return take_control(control.front() & 0xffff, control.subspan(1));
    }
    if (!has_begun_) return look_for_beginning();
    Reference* next = room(1);
    const auto free = static_cast<std::uint64_t>(current_->limit - next);
    const std::uint64_t left = options_.window > in_window_ ? options_.window - in_window_ : 1;
    const std::size_t most = std::min<std::uint64_t>({(words.size() - pairs_) / 2, free, left});
    const std::uint64_t* pair = &words[pairs_];
    Reference* const limit = next + most;
    for (; next != limit && CT_RUN_KIND(*pair) == 0; pair += 2)
        *next++ = data_reference(pair[0], site_of(code_.counters().number_again(pair[1] - 1), pair[0]));
    advance(next);
    pairs_ = static_cast<std::size_t>(pair - words.data());
}

/// Until the next control or the end of the chunk.
void CaptureDecoder::look_for_beginning() {
    const std::span<const std::uint64_t> words = chunk_->pairs;
    for (; pairs_ != words.size() && CT_RUN_KIND(words[pairs_]) == 0 && !has_begun_; pairs_ += 2)
        if (is_by_beginning(code_.counters().number_again(words[pairs_ + 1] - 1))) {
            begin();
            return;
        }
}

/// What was left out ends no phase, but names the first one, as where a trace's beginning is left out.
void CaptureDecoder::begin() {
    has_begun_ = true;
    names_.reset();
    if (const std::uint32_t phase = events_.barrier().argument; phase != 0)
        end_window(Control{Control::Kind::meet, phase});
}

bool CaptureDecoder::is_by_beginning(std::uint32_t code) {
    if (code >= is_beginning_.size()) is_beginning_.resize(std::max<std::size_t>(code + 1, 2 * is_beginning_.size()));
    if (!is_beginning_[code]) {
        if (!names_ || named_files_ != events_.files.size()) names_.emplace(events_.by_era.now());
        named_files_ = events_.files.size();
        is_beginning_[code] = is_function(names_->place_of(code_.counters().all()[code]).function, options_.from);
    }
    return *is_beginning_[code];
}

void CaptureDecoder::turn_to_thread(std::uint64_t thread) {
    const std::size_t number = core_of_thread_.size();
    const auto next =
        number < options_.map.size() ? options_.map[number] : static_cast<unsigned>(number % options_.cores);
    current_ = &streams_[core_of_thread_.try_emplace(thread, next).first->second];
}

void CaptureDecoder::take_control(std::uint64_t run) {
    const unsigned kind = run & 0xffff;
    const std::size_t count = run >> 16 & 0xffffffff;
    if (count > runs_) refuse("a control is longer than its chunk");
    std::vector<std::uint64_t> words(chunk_->runs.begin() + static_cast<std::ptrdiff_t>(runs_ - count),
                                     chunk_->runs.begin() + static_cast<std::ptrdiff_t>(runs_));
    std::ranges::reverse(words);
    runs_ -= count;
    take_control(kind, words);
}

void CaptureDecoder::take_control(unsigned kind, std::span<const std::uint64_t> words) {
    const auto first = [&] { return words.empty() ? 0 : words.front(); };
    switch (kind) {
        case CT_BLOCK: code_.define(words); break;
        case CT_THREAD: turn_to_thread(first()); break;
        case CT_COLLECT:
            if (first() == 2 && !has_begun_) begin();
            break;
        case CT_BARRIER:
            if (has_begun_ && (options_.barriers_end_phases || options_.cores > 1))
                end_window(options_.barriers_end_phases ? events_.barrier() : Control{Control::Kind::meet, 0});
            break;
        case CT_PHASE:
            if (const Control phase = events_.phase(words); has_begun_) end_window(phase);
            break;
        case CT_FUNCTION_ENTERED:
        case CT_FUNCTION_LEFT: {
            const auto next = static_cast<std::uint32_t>(functions_.size());
            const auto [function, is_new] = functions_.try_emplace(first(), next);
            if (is_new) events_.functions.push_back(first());
            add_control(*current_,
                        {kind == CT_FUNCTION_ENTERED ? Control::Kind::enter_function : Control::Kind::leave_function,
                         function->second});
            break;
        }
        default: break;
    }
    events_.take(kind, words);
    code_.counters().turn_to_era(events_.by_era.era());
    if (sites_) sites_->take(kind, words, events_);
}

/// Of the current stream, in its open block.
Reference* CaptureDecoder::room(std::size_t references) {
    Stream& stream = *current_;
    if (static_cast<std::size_t>(stream.limit - stream.next) < references) {
        close(stream);
        open(stream);
        if (static_cast<std::size_t>(stream.limit - stream.next) < references) refuse("a run has too many references");
    }
    return stream.next;
}

void CaptureDecoder::open(Stream& stream) {
    if (stream.spare.empty()) {
        stream.ready.emplace_back();
    } else {
        stream.ready.push_back(std::move(stream.spare.back()));
        stream.spare.pop_back();
    }
    stream.begin = stream.next = stream.ready.back().start(block_references + CapturedCode::slack);
    stream.limit = stream.begin + block_references;
}

void CaptureDecoder::close(Stream& stream) {
    if (stream.begin == nullptr) return;
    ReferenceBlock& block = stream.ready.back();
    block.set_size(static_cast<std::size_t>(stream.next - stream.begin));
    block.data_only = options_.fetches == CapturedFetches::none;
    stream.begin = stream.next = stream.limit = nullptr;
}

void CaptureDecoder::add_control(Stream& stream, Control control) {
    if (stream.begin == nullptr) open(stream);
    stream.ready.back().controls.push_back({static_cast<std::uint32_t>(stream.next - stream.begin), control});
}

/// Without a control, the program is at its end.
void CaptureDecoder::end_window(std::optional<Control> control) {
    for (Stream& stream : streams_) {
        if (!control || control->kind != Control::Kind::none) {
            if (stream.begin == nullptr) open(stream);
            if (control) add_control(stream, *control);
        }
        if (!control) stream.ready.back().last = true;
        close(stream);
    }
    window_is_open_ = false;
}

}  // namespace cachetally
