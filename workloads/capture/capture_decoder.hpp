// SPDX-License-Identifier: BSD-3-Clause
// CaptureDecoder: from the words of a capture to streams of references, one per core.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "workloads/capture/capture_ring.hpp"
#include "workloads/capture/captured_code.hpp"
#include "workloads/capture/captured_events.hpp"
#include "workloads/capture/captured_sites.hpp"
#include "workloads/capture/program_names.hpp"
#include "workloads/traces/block.hpp"

namespace cachetally {

struct DecoderOptions {
    unsigned cores = 1;  ///< threads go to them in turn, in the order of their first reference
    CapturedFetches fetches = CapturedFetches::lines;
    /// References until all cores meet. Between two meetings each core goes on as if it were alone on its processor:
    /// how threads interleave is the machine's doing, not the capture's (which runs one at a time). Ours.
    std::uint64_t window = std::uint64_t{1} << 22;
    bool barriers_end_phases = false;  ///< else cores only meet there
    std::vector<unsigned> map = {};    ///< the cores of the first threads
    /// References are left out until the first by this function. The valgrind tool leaves them out itself, and reports
    /// that it was entered.
    std::string from = {};
    FieldOptions fields = {};  ///< where objects are told apart
};

/// Not for several threads at once.
class CaptureDecoder {
public:
    /// `next` gives chunks until there are no more, `release` takes them back.
    /// `sites`: where they tell objects apart, too, the table that gets them; null: they are numbers of counters().
    CaptureDecoder(const DecoderOptions& options, SiteTable* sites, std::function<std::optional<CapturedChunk>()> next,
                   std::function<void(const CapturedChunk&)> release);

    /// Exchanges `block` for the next one of a core: of one core alone, of about so many references. `sites`: else
    /// references need none.
    void take(unsigned core, ReferenceBlock& block, std::size_t references = block_references, bool sites = true);
    static constexpr std::size_t block_references = 65536;  ///< at most

    /// How the process ended, which the capture itself does not know; of one that announced its end.
    void set_end(const ProgramEnd& end) { events_.end = end; }

    const CapturedEvents& events() const { return events_; }
    const ProgramCounters& counters() const { return code_.counters(); }

    /// Whether the function was entered that recording begins at, if any.
    bool has_begun() const { return has_begun_; }

    /// Null where objects are not told apart.
    const CapturedSites* sites() const { return sites_ ? &*sites_ : nullptr; }

private:
    struct Stream {
        std::deque<ReferenceBlock> ready;  ///< the last one may be open
        std::vector<ReferenceBlock> spare;
        Reference* next = nullptr;  ///< in the open block
        Reference* limit = nullptr;
        Reference* begin = nullptr;
    };

    std::string how_it_ended() const;  ///< where that was no exit
    void make_window();
    bool next_chunk();
    void take_run();
    void take_exits();
    void copy(const CodeExit& exit, Reference* to, std::uint32_t first, std::uint32_t* places);
    Reference* fill(std::span<const std::uint64_t> words, std::span<Reference> references);
    template <bool sites>
    Reference* make_data(std::span<const std::uint64_t> words, Reference* to);
    static void copy(const std::uint32_t* from, std::size_t count, std::uint32_t first, std::uint32_t* to);
    void take_new_exit(CodeExit& exit);
    void take_site(std::uint64_t run);
    std::uint32_t site_of(std::uint32_t code, std::uint64_t word);
    void take_pairs();
    void look_for_beginning();
    void begin();
    bool is_by_beginning(std::uint32_t code);
    void take_control(std::uint64_t run);
    void take_control(unsigned kind, std::span<const std::uint64_t> words);
    void turn_to_thread(std::uint64_t thread);
    Reference* room(std::size_t references);
    void open(Stream& stream);
    void close(Stream& stream);
    void add_control(Stream& stream, Control control);
    void end_window(std::optional<Control> control);
    std::uint64_t data_word();
    void advance(Reference* next);

    DecoderOptions options_;
    std::function<std::optional<CapturedChunk>()> next_;
    std::function<void(const CapturedChunk&)> release_;
    CapturedCode code_;
    CapturedEvents events_;
    std::optional<CapturedSites> sites_;
    std::vector<Stream> streams_;
    std::unordered_map<std::uint64_t, unsigned> core_of_thread_;
    std::unordered_map<Address, std::uint32_t> functions_;
    Stream* current_;  ///< of the running thread
    std::optional<CapturedChunk> chunk_;
    std::size_t data_ = 0, runs_ = 0;     ///< words of the chunk that are left to do; of runs, from behind
    std::size_t pairs_ = 0;               ///< words that are done
    std::vector<std::uint32_t> numbers_;  ///< of take_exits(), by data word: codes, or places among its references
    std::uint64_t in_window_ = 0;
    bool window_is_open_ = false, over_ = false, has_begun_, wants_sites_ = true;
    std::optional<ProgramNames> names_;  ///< of the files so far, until recording begins
    std::size_t named_files_ = 0;
    std::vector<std::optional<bool>> is_beginning_;  ///< by code
};

}  // namespace cachetally
