// SPDX-License-Identifier: BSD-3-Clause
#include "campaign/workers.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <new>

#include "base/text.hpp"

namespace cachetally {
namespace {

/// How a worker ends that is not killed.
enum Ending { done = 0, busy = 80, stopped = 81, impossible = 82 };

constexpr int poll_milliseconds = 200;
constexpr std::size_t longest_message = 4096;

void write_bundle(const CampaignFolder& folder, const BundleWork& work, std::uint64_t number, const std::string& hash,
                  Steps& steps, const InputFile* before) {
    std::error_code absent;
    std::filesystem::remove(temporary_name(folder.bundle(number)), absent);  // of a process that was killed
    ResultFile file(folder.bundle(number), Existing::overwrite);
    const std::vector<PointFailure> failures = work.compute(file.root(), number, steps, before);
    steps.end();
    file.root().set_attribute("bundle_hash", hash);
    write_failures(file.root(), failures);
    file.finish();
    sync_folder(folder.file("bundles"));
    for (const PointFailure& failure : failures) folder.log(fmt::format("point {}: {}", failure.item, failure.error));
}

/// In the worker: computes a bundle, and gives it its name. What it throws was no fault of a step: none is to be left
/// out for it.
Ending compute(const CampaignFolder& folder, const BundleWork& work, const WorkOptions& options, std::uint64_t number) {
    std::optional<BundleLock> lock = BundleLock::take(folder.running(number));
    if (!lock) return busy;
    const auto end_asked = [&, parent = ::getppid()] { return options.interrupted() || ::getppid() != parent; };
    try {
        const std::string hash = work.hash(number);
        std::optional<InputFile> before;
        std::error_code error;
        if (std::filesystem::exists(folder.bundle(number), error)) {
            const std::string fault = folder.fault(number, hash);
            if (!fault.empty()) {
                folder.set_aside(number, fault);
            } else if (options.retry && !folder.failures(number).empty()) {
                before.emplace(folder.bundle(number));
            } else {  // somebody else was faster
                lock->release();
                return done;
            }
        }
        Steps steps(*lock, end_asked);
        write_bundle(folder, work, number, hash, steps, before ? &*before : nullptr);
    } catch (const BundleInterrupted&) {
        lock->release();
        return stopped;
    } catch (...) {
        lock->release();
        throw;
    }
    lock->release();
    return done;
}

constexpr unsigned most_equal_endings = 2;

/// How often a bundle's process ended while nothing changed: its lock's text was as before.
struct Endings {
    std::string state;
    unsigned number = 0;
};

/// A process and what it says.
struct Worker {
    pid_t process = 0;
    int output = -1;
    std::uint64_t bundle = 0;
    std::string message;
};

[[noreturn]] void work_and_exit(const CampaignFolder& folder, const BundleWork& work, const WorkOptions& options,
                                std::uint64_t bundle) {
    Ending ending = impossible;
    try {
        ending = compute(folder, work, options, bundle);
    } catch (const std::bad_alloc&) {
        std::fputs("there is not enough memory", stderr);
    } catch (const std::exception& error) {
        std::fputs(error.what(), stderr);
    }
    std::fflush(stderr);
    ::_exit(ending);
}

Worker begin(const CampaignFolder& folder, const BundleWork& work, const WorkOptions& options, std::uint64_t bundle) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw CampaignError("no pipe can be made: {}", std::strerror(errno));
    std::fflush(stdout);
    std::fflush(stderr);
    const pid_t parent = ::getpid(), process = ::fork();
    if (process < 0) throw CampaignError("no process can be begun: {}", std::strerror(errno));
    if (process == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent) ::_exit(stopped);
        ::dup2(ends[1], STDERR_FILENO);
        work_and_exit(folder, work, options, bundle);
    }
    ::close(ends[1]);
    return {process, ends[0], bundle, {}};
}

class Crew {
public:
    Crew(const CampaignFolder& folder, const BundleWork& work, const WorkOptions& options)
        : folder_(folder), work_(work), options_(options) {}

    WorkResult run() {
        find_missing();
        report();
        while (!waiting_.empty() || !workers_.empty() || !elsewhere_.empty()) {
            if (ends() && result_.error.empty()) end_all();
            if (!ends()) {
                while (!waiting_.empty() && workers_.size() < options_.jobs) launch();
            } else {
                waiting_.clear();
                elsewhere_.clear();
            }
            if (workers_.empty() && waiting_.empty() && !elsewhere_.empty()) look_elsewhere();
            listen();
        }
        for (std::uint64_t bundle = options_.shard - 1; bundle < folder_.manifest().count(); bundle += options_.shards)
            if (std::error_code error; !std::filesystem::exists(folder_.bundle(bundle), error)) ++result_.missing;
        folder_.require_there();  // else what workers say of it comes from that
        return result_;
    }

private:
    bool ends() {
        result_.interrupted = result_.interrupted || options_.interrupted() || folder_.is_cancelled();
        return result_.interrupted || !result_.error.empty();
    }

    void find_missing() {
        for (std::uint64_t bundle = options_.shard - 1; bundle < folder_.manifest().count();
             bundle += options_.shards) {
            all_ += items(bundle);
            std::error_code error;
            const bool there = std::filesystem::exists(folder_.bundle(bundle), error) &&
                               folder_.holds(bundle, work_.hash(bundle)) &&
                               !(options_.retry && !folder_.failures(bundle).empty());
            if (there) {
                done_ += items(bundle);
            } else {
                waiting_.push_back(bundle);
            }
        }
    }

    std::uint64_t items(std::uint64_t bundle) const {
        return folder_.manifest().end(bundle) - folder_.manifest().first(bundle);
    }

    void report() const {
        if (options_.progress) options_.progress(done_, all_);
    }

    void launch() {
        workers_.push_back(begin(folder_, work_, options_, waiting_.front()));
        waiting_.pop_front();
    }

    /// Other processes have the rest: what they leave is taken up.
    void look_elsewhere() {
        ::poll(nullptr, 0, poll_milliseconds);
        for (const std::uint64_t bundle : elsewhere_) {
            std::error_code error;
            if (std::filesystem::exists(folder_.bundle(bundle), error) && !options_.retry) {
                done_ += items(bundle);
                report();
            } else if (!BundleLock::owner(folder_.running(bundle))) {
                waiting_.push_back(bundle);
            } else {
                still_.push_back(bundle);
            }
        }
        elsewhere_.swap(still_);
        still_.clear();
    }

    void end_all() const {
        for (const Worker& worker : workers_) ::kill(worker.process, SIGTERM);
    }

    void listen() {
        std::vector<pollfd> files;
        for (const Worker& worker : workers_) files.push_back({worker.output, POLLIN, 0});
        if (files.empty() || (::poll(files.data(), files.size(), poll_milliseconds) <= 0)) return;
        for (std::size_t i = files.size(); i-- > 0;) {
            if (files[i].revents == 0) continue;
            Worker& worker = workers_[i];
            char text[1024];
            const ssize_t count = ::read(worker.output, text, sizeof text);
            if (count > 0) {
                worker.message.append(text, static_cast<std::size_t>(count));
                if (worker.message.size() > longest_message)
                    worker.message.erase(0, worker.message.size() - longest_message);
            } else if (count == 0 || errno != EINTR) {
                const Worker ended = worker;
                workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
                take(ended);
            }
        }
    }

    void take(const Worker& worker) {
        ::close(worker.output);
        int status = 0;
        while (::waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
        }
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        if (code == done) {
            ++result_.computed;
            done_ += items(worker.bundle);
            report();
        } else if (code == busy) {
            elsewhere_.push_back(worker.bundle);
        } else if (code == impossible) {
            if (result_.error.empty()) result_.error = worker.message;
        } else if (code == stopped) {
            result_.interrupted = true;
        } else {
            begin_again(worker, code >= 0 ? fmt::format("ended with status {}", code)
                                          : fmt::format("was ended by signal {} ({})", WTERMSIG(status),
                                                        ::strsignal(WTERMSIG(status))));
        }
    }

    /// A process ended that did not want to. In which step is counted in the bundle's lock; where that does not change,
    /// it was no step, and would be so for ever.
    void begin_again(const Worker& worker, const std::string& ending) {
        const std::string what = fmt::format("bundle {}: its process {}{}{}", worker.bundle, ending,
                                             worker.message.empty() ? "" : ": ", worker.message);
        folder_.log(what);
        const std::string state = BundleLock::state(folder_.running(worker.bundle));
        Endings& endings = endings_[worker.bundle];
        endings.number = endings.state == state ? endings.number + 1 : 1;
        endings.state = state;
        if (endings.number > most_equal_endings) {
            if (result_.error.empty()) result_.error = what + ", again and again, and not while a point is computed";
            return;
        }
        waiting_.push_front(worker.bundle);
    }

    const CampaignFolder& folder_;
    const BundleWork& work_;
    const WorkOptions& options_;
    std::deque<std::uint64_t> waiting_;
    std::vector<std::uint64_t> elsewhere_, still_;
    std::vector<Worker> workers_;
    std::map<std::uint64_t, Endings> endings_;  ///< by bundle
    std::uint64_t done_ = 0, all_ = 0;
    WorkResult result_;
};

}  // namespace

void Steps::end() {
    constexpr std::uint64_t no_step = ~std::uint64_t{0};
    if (!lock_.enter(no_step))
        throw CampaignError("{}", "results cannot be written: that ended its process twice (errors.log)");
}

WorkResult run_bundles(const CampaignFolder& folder, const BundleWork& work, const WorkOptions& options) {
    return Crew(folder, work, options).run();
}

}  // namespace cachetally
