// SPDX-License-Identifier: BSD-3-Clause
// CapturedProgram: a program that runs, as a source of references.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cachetally/reference_source.hpp"
#include "workloads/capture/capture_decoder.hpp"
#include "workloads/capture/captured_events.hpp"

namespace cachetally {

/// What records a program's references.
enum class CaptureWith : std::uint8_t {
    automatic,  ///< the runtime, where the program's file has it; else valgrind
    valgrind,   ///< any program: the capture tool (workloads/capture/valgrind)
    compiled,   ///< what cachetally-cc compiled: its own runtime (workloads/capture/compiled)
    lackey      ///< any program: valgrind's lackey, whose references have no sites, regions or threads
};

struct CaptureOptions {
    CaptureWith with = CaptureWith::automatic;
    std::vector<std::string> command;  ///< the program and its arguments
    DecoderOptions decoder;
    std::shared_ptr<SiteTable> sites = nullptr;  ///< where sites shall tell objects apart, too, not code alone
    unsigned chunks = 64;                        ///< of the ring, 256 KiB each
    bool children = false;                       ///< programs that it executes in its place are captured, too
    std::string program = {};                    ///< the first process that executes this is captured; empty: the first
    bool heap = true;                            ///< its allocations are reported
    int standard_output = 1;                     ///< a descriptor: the program's standard output
    std::vector<std::string> tool_options = {};  ///< further ones, as valgrind takes them
    std::function<bool()> stop = {};  ///< asked while the program makes no references; true for 5 s ends the reading
};

/// The program starts, under the capture tool (workloads/capture/valgrind), when its first references are asked for.
class CapturedProgram : public ReferenceSource {
public:
    /// How it ended, once its streams are over; waits for it.
    virtual ProgramEnd end() = 0;

    /// What it reported, once its streams are over.
    virtual const CapturedEvents& events() const = 0;

    /// What the user asked for and was not there (FieldOptions), once its streams are over.
    virtual std::vector<std::string> remarks() const { return {}; }
};

/// Why programs cannot be captured under valgrind, with what to install; empty = they can.
std::string why_no_capture();

/// Throws TraceError where the program or the tool is not there, with what to install.
std::unique_ptr<CapturedProgram> capture(const CaptureOptions& options);

}  // namespace cachetally
