// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/capture/captured_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/text.hpp"
#include "workloads/capture/capture_ring.hpp"
#include "workloads/capture/captured_process.hpp"
#include "workloads/capture/elf_marker.hpp"
#include "workloads/capture/program_names.hpp"
#include "workloads/capture/site_names.hpp"
#include "workloads/capture/tool_folder.hpp"
#include "workloads/traces/block.hpp"
#include "workloads/traces/byte_stream.hpp"
#include "workloads/traces/trace.hpp"

namespace cachetally {
namespace {

/// Where valgrind looks for its tools; with the tool of this project.
std::string tool_folder() {
    if (const char* const stated = std::getenv("CACHETALLY_CAPTURE")) return stated;
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    for (const char* const place : {capture_folder::beside_programs, capture_folder::built}) {
        const std::filesystem::path folder = program.parent_path() / ".." / place;
        if (std::filesystem::exists(folder / capture_folder::tool, error))
            return std::filesystem::weakly_canonical(folder, error);
    }
    return "";
}

std::vector<std::string> tool_command(const CaptureOptions& options) {
    if (const std::string reason = why_no_capture(); !reason.empty()) throw TraceError(reason);
    std::vector<std::string> command = {
        tool_folder() + "/" + capture_folder::tool,
        "--tool=cachetally",
        "-q",
        "--vgdb=no",
        fmt::format("--heap={}", options.heap ? "yes" : "no"),
        fmt::format("--trace-children={}", options.children || !options.program.empty() ? "yes" : "no")};
    if (!options.program.empty()) command.push_back("--program=" + options.program);
    if (!options.decoder.from.empty()) command.push_back("--from=" + options.decoder.from);
    command.insert(command.end(), options.tool_options.begin(), options.tool_options.end());
    command.insert(command.end(), options.command.begin(), options.command.end());
    return command;
}

/// What records as valgrind's lackey does: no more than that.
void check_lackey(const CaptureOptions& options) {
    const auto refuse = [](const std::string& what) {
        throw TraceError(fmt::format("--with lackey: lackey {}; --with valgrind does", what));
    };
    if (options.children) refuse("does not tell processes apart (--children)");
    if (!options.program.empty()) refuse("does not tell processes apart (--program)");
    if (options.decoder.barriers_end_phases) refuse("knows no barriers (--barriers)");
    if (!options.decoder.map.empty()) refuse("does not tell threads apart (--map)");
    if (!options.decoder.from.empty()) refuse("knows no functions (--from)");
    if (find_program("valgrind").empty()) throw TraceError("valgrind is not installed: install the package valgrind");
}

/// Whether the capture tool is needed. Throws TraceError where what is wished cannot be.
bool is_by_valgrind(const CaptureOptions& options) {
    const bool has_runtime = has_capture_runtime(find_program(options.command.front()));
    if (options.with == CaptureWith::automatic) return options.children || !options.program.empty() || !has_runtime;
    if (options.with == CaptureWith::valgrind) return true;
    if (!has_runtime)
        throw TraceError(fmt::format("{} was not linked by cachetally-cc, so that it cannot record by itself",
                                     shown(options.command.front())));
    if (options.children || !options.program.empty())
        throw TraceError("programs that a program executes are captured with valgrind alone (--children, --program)");
    return false;
}

/// What the streams of a capture share.
class Capture {
public:
    /// `command`: of the capture tool; empty where the program records itself.
    Capture(const CaptureOptions& options, const std::vector<std::string>& command)
        : program_(options.program),
          stop_(options.stop),
          records_itself_(command.empty()),
          ring_(options.chunks),
          process_(command.empty() ? options.command : with_ring(command), options.standard_output,
                   command.empty() ? std::vector<std::string>{"CACHETALLY_RING=" + ring_.path()}
                                   : std::vector<std::string>{"VALGRIND_LIB=" + tool_folder(),
                                                              "VALGRIND_LAUNCHER=" + find_program("valgrind")}),
          decoder_(
              options.decoder, options.sites.get(), [this] { return next(); },
              [this](const CapturedChunk& chunk) { ring_.release(chunk); }) {}

    void take(unsigned core, ReferenceBlock& block, std::size_t references, bool sites) {
        decoder_.take(core, block, references, sites);
    }
    void leave() { ring_.leave(); }
    CaptureDecoder& decoder() { return decoder_; }

    /// After the streams.
    ProgramEnd end() {
        ring_.leave();
        if (decoder_.events().end || !process_.running()) return process_.wait();
        process_.end();  // enough was read
        return {};
    }

private:
    std::optional<CapturedChunk> next() {
        std::optional<CapturedChunk> chunk = ring_.next([this] {
            if (is_stopped()) throw TraceError("interrupted while the program made no references");
            return process_.running();
        });
        if (!chunk && ring_.left()) return chunk;  // the program may run on for long
        if (!chunk && !program_.empty() && !ring_.is_written())
            throw TraceError(fmt::format("--program: no process executed '{}'", shown(program_)));
        if (!chunk) note_end();
        return chunk;
    }

    /// A terminal interrupts the program, too, which may then end by itself.
    bool is_stopped() {
        constexpr std::chrono::seconds time_to_end(5);
        if (!stop_ || !stop_()) return false;
        const auto now = std::chrono::steady_clock::now();
        if (!stopped_) stopped_ = now;
        return now - *stopped_ > time_to_end;
    }

    /// Not where valgrind gave up: that is no end of the program.
    void note_end() {
        const ProgramEnd end = process_.wait();
        if (ring_.ended() || records_itself_ || end.signal != 0) decoder_.set_end(end);
    }

    std::vector<std::string> with_ring(std::vector<std::string> command) const {
        command.insert(command.begin() + 1, "--ring=" + ring_.path());
        return command;
    }

    std::string program_;
    std::function<bool()> stop_;
    std::optional<std::chrono::steady_clock::time_point> stopped_;
    bool records_itself_;
    CaptureRing ring_;
    CapturedProcess process_;
    CaptureDecoder decoder_;
};

class CaptureProducer : public BlockProducer {
public:
    CaptureProducer(std::shared_ptr<Capture> capture, unsigned core) : capture_(std::move(capture)), core_(core) {}

    /// Filters pieces that stay in the host's nearest caches.
    void produce(ReferenceBlock& block, const std::optional<FilterPlan>& wish) override {
        constexpr std::size_t most = CaptureDecoder::block_references;
        if (failure_) std::rethrow_exception(failure_);
        if (!wish) return capture_->take(core_, block, most, true);
        if (!filter_) filter_.emplace(*wish);
        block.clear();
        block.start_filtering();
        try {
            while (!block.last && block.size() < most) {
                capture_->take(core_, piece_, piece_references, wish->sites);
                block.add_filtered(piece_, *filter_);
            }
        } catch (...) {
            if (block.size() == 0 && block.controls.empty()) throw;
            failure_ = std::current_exception();
        }
        block.end_filtering();
    }
    void cancel() override { capture_->leave(); }

private:
    static constexpr std::size_t piece_references = 4096;

    ReferenceBlock piece_;
    std::optional<RedundancyFilter> filter_;
    std::exception_ptr failure_;  ///< behind the latest block
    std::shared_ptr<Capture> capture_;
    unsigned core_;
};

class Program final : public CapturedProgram {
public:
    explicit Program(CaptureOptions options) : options_(std::move(options)) {
        if (is_by_valgrind(options_)) command_ = tool_command(options_);
    }

    unsigned cores() const override { return options_.decoder.cores; }
    Batch next(unsigned core) override {
        if (!capture_) start();
        if (!streams_) throw std::logic_error("a program is not read any more when its names were asked for");
        return streams_->next(core);
    }
    void wish(const std::optional<FilterPlan>& plan) override {
        wish_ = plan;
        if (streams_) streams_->wish(plan);
    }
    /// The program's own names come first.
    std::vector<Region> regions() const override {
        stop_reading();
        return capture_ ? regions_of(events(), ProgramNames(events().files)) : std::vector<Region>();
    }
    std::vector<std::string> functions() const override {
        stop_reading();
        std::vector<std::string> names;
        if (events().functions.empty()) return names;
        const ProgramNames program(events().files);
        for (const Address function : events().functions) names.push_back(program.place_of(function).function);
        return names;
    }
    std::vector<std::string> phase_names() const override {
        stop_reading();
        return events().phase_names;
    }
    ProgramEnd end() override {
        stop_reading();
        return capture_ ? capture_->end() : ProgramEnd();
    }
    const CapturedEvents& events() const override { return capture_ ? capture_->decoder().events() : nothing_; }
    const SiteTable* sites() const override { return options_.sites.get(); }
    SiteNames site_names() const override {
        stop_reading();
        if (!capture_ || !options_.sites) return {};
        return site_names_of(events(), capture_->decoder().counters(), *capture_->decoder().sites());
    }
    std::vector<std::string> remarks() const override {
        if (!capture_) return {};
        std::vector<std::string> remarks;
        if (const CapturedSites* const sites = capture_->decoder().sites()) remarks = sites->unused_choices();
        if (!events().executed.empty())
            remarks.push_back(
                fmt::format("what follows its execution of '{}' is not recorded: --children records that, too, "
                            "--program NAME the first process that executes NAME",
                            events().executed));
        if (const auto forks = events().forks; forks != 0)
            remarks.push_back(
                fmt::format("the {} that it forks {} not recorded: --program NAME records the first that executes NAME",
                            forks == 1 ? "process" : fmt::format("{} processes", forks), forks == 1 ? "is" : "are"));
        return remarks;
    }

private:
    /// What is asked for comes after the last reference that anybody wants: their thread is the reader, who may be
    /// ahead of that.
    void stop_reading() const { streams_.reset(); }

    void start() {
        capture_ = std::make_shared<Capture>(options_, command_);
        std::vector<std::unique_ptr<BlockProducer>> producers;
        for (unsigned core = 0; core < options_.decoder.cores; ++core)
            producers.push_back(std::make_unique<CaptureProducer>(capture_, core));
        streams_ = make_block_source(std::move(producers), {}, true);
        streams_->wish(wish_);
    }

    CaptureOptions options_;
    std::vector<std::string> command_;  ///< of the capture tool; empty where the program records by itself
    std::optional<FilterPlan> wish_;
    CapturedEvents nothing_;
    std::shared_ptr<Capture> capture_;
    mutable std::unique_ptr<ReferenceSource> streams_;
};

/// Reads the text that lackey writes into a pipe.
class LackeyProgram final : public CapturedProgram {
public:
    explicit LackeyProgram(CaptureOptions options) : options_(std::move(options)) {}

    unsigned cores() const override { return 1; }
    Batch next(unsigned core) override {
        if (!trace_) start();
        if (!is_over_) {
            Batch batch = trace_->next(core);
            is_over_ = batch.control.kind == Control::Kind::end;
            if (is_over_) batch.control = {};
            return batch;
        }
        if (const ProgramEnd end = process_->wait(); end.signal != 0) throw TraceError(ended_by(end));
        return {{}, {Control::Kind::end, 0}};
    }
    void wish(const std::optional<FilterPlan>& plan) override {
        wish_ = plan;
        if (trace_) trace_->wish(plan);
    }
    ProgramEnd end() override {
        if (!process_) return {};
        trace_.reset();
        if (is_over_ || !process_->running()) return process_->wait();
        process_->end();  // enough was read
        return {};
    }
    const CapturedEvents& events() const override { return nothing_; }

private:
    void start() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) throw TraceError("no pipe can be made");
        ::fcntl(ends[1], F_SETFD, 0);  // for lackey alone
        std::vector<std::string> command = {
            find_program("valgrind"), "--tool=lackey",     "-q",
            "--trace-mem=yes",        "--basic-counts=no", fmt::format("--log-fd={}", ends[1])};
        command.insert(command.end(), options_.command.begin(), options_.command.end());
        process_.emplace(command, options_.standard_output, std::vector<std::string>{});
        ::close(ends[1]);
        TraceOptions trace;
        trace.format = TraceFormat::lackey;
        trace.data_only = options_.decoder.fetches == CapturedFetches::none;
        trace_ = open_trace_as(fmt::format("/proc/self/fd/{}", ends[0]), trace).source;
        ::close(ends[0]);
        trace_->wish(wish_);
    }

    CaptureOptions options_;
    CapturedEvents nothing_;
    std::optional<FilterPlan> wish_;
    std::optional<CapturedProcess> process_;
    std::unique_ptr<ReferenceSource> trace_;
    bool is_over_ = false;
};

}  // namespace

std::string why_no_capture() {
    constexpr char under[] = "programs are captured under valgrind, ";
    if (find_program("valgrind").empty())
        return std::string(under) + "which is not installed: install the package valgrind";
    if (tool_folder().empty())
        return std::string(under) +
               "and this cachetally was built without the capture tool: install the package valgrind, then build "
               "the target capture_tool (scripts/build release --target capture_tool)";
    return "";
}

std::unique_ptr<CapturedProgram> capture(const CaptureOptions& options) {
    if (options.command.empty()) throw TraceError("no program is named");
    const std::string program = find_program(options.command.front());
    if (program.empty())
        throw TraceError(fmt::format("there is no program '{}' that may be executed", shown(options.command.front())));
    struct stat file {};
    if (::stat(program.c_str(), &file) == 0 && (file.st_mode & (S_ISUID | S_ISGID)) != 0)
        throw TraceError(
            fmt::format("'{}' has set-user-ID or set-group-ID rights: valgrind runs no such program; name "
                        "a copy of it, which has none",
                        shown(program)));
    if (options.with != CaptureWith::lackey) return std::make_unique<Program>(options);
    check_lackey(options);
    return std::make_unique<LackeyProgram>(options);
}

}  // namespace cachetally
