// SPDX-License-Identifier: BSD-3-Clause
// CapturedProcess: a program that runs below this one while its references are read.
#pragma once

#include <string>
#include <vector>

#include "workloads/capture/captured_events.hpp"

namespace cachetally {

/// Started by the constructor, with this process's standard input and error. One that still runs when it is destroyed
/// is ended (SIGKILL).
class CapturedProcess {
public:
    /// The words of a command line, its program found as a shell would, and variables ("NAME=VALUE") besides those of
    /// this process. Throws TraceError where it cannot be started.
    CapturedProcess(const std::vector<std::string>& command, int standard_output,
                    const std::vector<std::string>& environment);
    ~CapturedProcess();
    CapturedProcess(const CapturedProcess&) = delete;
    CapturedProcess& operator=(const CapturedProcess&) = delete;

    /// Asked by one thread.
    bool running();

    /// Ends it, if it still runs, by SIGTERM, and by SIGKILL where it is deaf to that.
    void end();

    /// How it ended; while it runs, waits for that.
    ProgramEnd wait();

private:
    void reap(bool wait);

    int process_ = -1;
    bool over_ = false;
    ProgramEnd end_;
};

/// The path of a program that a shell would run by this name; empty where there is none.
std::string find_program(const std::string& name);

}  // namespace cachetally
