// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/capture/captured_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/text.hpp"
#include "workloads/capture/capture_ring.hpp"
#include "workloads/capture/captured_process.hpp"
#include "workloads/capture/elf_marker.hpp"
#include "workloads/capture/program_names.hpp"
#include "workloads/capture/tool_folder.hpp"
#include "workloads/traces/block.hpp"
#include "workloads/traces/byte_stream.hpp"

namespace cachetally {
namespace {

/// Where valgrind looks for its tools; with the tool of this project.
std::string tool_folder() {
    if (const char* const stated = std::getenv("CACHETALLY_CAPTURE")) return stated;
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    for (const std::filesystem::path& folder :
         {program.parent_path() / ".." / capture_folder::beside_programs, std::filesystem::path(capture_folder::built)})
        if (std::filesystem::exists(folder / capture_folder::tool, error))
            return std::filesystem::weakly_canonical(folder, error);
    return "";
}

std::vector<std::string> tool_command(const CaptureOptions& options) {
    const std::string folder = tool_folder(), valgrind = find_program("valgrind");
    if (folder.empty() || valgrind.empty())
        throw TraceError(fmt::format(
            "programs are captured under valgrind, {}",
            valgrind.empty()
                ? "which is not installed: install the package valgrind"
                : "and this cachetally was built without the capture tool: build it where the package valgrind is "
                  "installed"));
    std::vector<std::string> command = {folder + "/" + capture_folder::tool, "--tool=cachetally", "-q",
                                        fmt::format("--heap={}", options.heap ? "yes" : "no"),
                                        fmt::format("--trace-children={}", options.children ? "yes" : "no")};
    command.insert(command.end(), options.tool_options.begin(), options.tool_options.end());
    command.insert(command.end(), options.command.begin(), options.command.end());
    return command;
}

/// Whether the capture tool is needed. Throws TraceError where what is wished cannot be.
bool is_by_valgrind(const CaptureOptions& options) {
    const bool has_runtime = has_capture_runtime(options.command.front());
    if (options.with == CaptureWith::automatic) return options.children || !has_runtime;
    if (options.with == CaptureWith::valgrind) return true;
    if (!has_runtime)
        throw TraceError(fmt::format("{} was not linked by cachetally-cc, so that it cannot record by itself",
                                     shown(options.command.front())));
    if (options.children) throw TraceError("programs that a program executes are captured with valgrind alone");
    return false;
}

/// What the streams of a capture share.
class Capture {
public:
    /// `command`: of the capture tool; empty where the program records itself.
    Capture(const CaptureOptions& options, const std::vector<std::string>& command)
        : ring_(options.chunks),
          process_(command.empty() ? options.command : with_ring(command), options.standard_output,
                   command.empty() ? std::vector<std::string>{"CACHETALLY_RING=" + ring_.path()}
                                   : std::vector<std::string>{"VALGRIND_LIB=" + tool_folder(),
                                                              "VALGRIND_LAUNCHER=" + find_program("valgrind")}),
          decoder_(
              options.decoder, options.sites.get(), [this] { return next(); },
              [this](const CapturedChunk& chunk) { ring_.release(chunk); }) {}

    void take(unsigned core, ReferenceBlock& block) { decoder_.take(core, block); }
    void leave() { ring_.leave(); }
    CaptureDecoder& decoder() { return decoder_; }

    /// After the streams.
    ProgramEnd end() {
        ring_.leave();
        if (!decoder_.events().end) process_.end();
        return process_.wait();
    }

private:
    std::optional<CapturedChunk> next() {
        std::optional<CapturedChunk> chunk = ring_.next([this] { return process_.running(); });
        if (!chunk && ring_.ended()) decoder_.set_end(process_.wait());
        return chunk;
    }

    std::vector<std::string> with_ring(std::vector<std::string> command) const {
        command.insert(command.begin() + 1, "--ring=" + ring_.path());
        return command;
    }

    CaptureRing ring_;
    CapturedProcess process_;
    CaptureDecoder decoder_;
};

class CaptureProducer : public BlockProducer {
public:
    CaptureProducer(std::shared_ptr<Capture> capture, unsigned core) : capture_(std::move(capture)), core_(core) {}

    void produce(ReferenceBlock& block, const std::optional<FilterPlan>&) override { capture_->take(core_, block); }
    void cancel() override { capture_->leave(); }

private:
    std::shared_ptr<Capture> capture_;
    unsigned core_;
};

bool overlap(const Region& a, const Region& b) { return a.contains(b.base) || b.contains(a.base); }

class Program final : public CapturedProgram {
public:
    explicit Program(CaptureOptions options) : options_(std::move(options)) {
        if (is_by_valgrind(options_)) command_ = tool_command(options_);
    }

    unsigned cores() const override { return options_.decoder.cores; }
    Batch next(unsigned core) override {
        if (!capture_) start();
        return streams_->next(core);
    }
    void wish(const std::optional<FilterPlan>& plan) override {
        wish_ = plan;
        if (streams_) streams_->wish(plan);
    }
    /// The program's own names come first.
    std::vector<Region> regions() const override {
        if (!capture_) return {};
        std::vector<Region> named = events().regions;
        for (Region& variable : ProgramNames(events().files).variables())
            if (std::ranges::none_of(named, [&](const Region& region) { return overlap(region, variable); }))
                named.push_back(std::move(variable));
        return named;
    }
    std::vector<std::string> functions() const override {
        std::vector<std::string> names;
        if (events().functions.empty()) return names;
        const ProgramNames program(events().files);
        for (const Address function : events().functions) names.push_back(program.place_of(function).function);
        return names;
    }
    ProgramEnd end() override {
        if (!capture_) return {};
        streams_.reset();  // whose thread is the reader
        return capture_->end();
    }
    const CapturedEvents& events() const override { return capture_ ? capture_->decoder().events() : nothing_; }
    const SiteTable* sites() const override { return options_.sites.get(); }
    SiteNames site_names() const override {
        SiteNames names;
        if (!capture_ || !options_.sites) return names;
        const ProgramNames program(events().files);
        for (const Address counter : capture_->decoder().counters().all())
            names.code.push_back(counter == 0 ? CodePlace() : program.place_of(counter));
        names.objects = capture_->decoder().sites()->object_names(program);
        return names;
    }

private:
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
    std::unique_ptr<ReferenceSource> streams_;
};

}  // namespace

std::unique_ptr<CapturedProgram> capture(const CaptureOptions& options) {
    if (options.command.empty()) throw TraceError("no program is named");
    CaptureOptions found = options;
    found.command.front() = find_program(options.command.front());
    if (found.command.front().empty())
        throw TraceError(fmt::format("there is no program '{}'", shown(options.command.front())));
    return std::make_unique<Program>(found);
}

}  // namespace cachetally
