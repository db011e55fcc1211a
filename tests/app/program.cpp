// SPDX-License-Identifier: BSD-3-Clause
#include "tests/app/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <set>

namespace cachetally::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto patience = std::chrono::seconds(240);
constexpr unsigned nobody = 65534;

struct Pipe {
    std::array<int, 2> ends{-1, -1};
    explicit Pipe(bool terminal = false) {
        if (terminal ? !open_terminal() : ::pipe2(ends.data(), O_CLOEXEC) != 0)
            throw std::runtime_error("cannot make a pipe");
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() {
        close(0);
        close(1);
    }
    bool open_terminal() {
        ends[0] = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (ends[0] < 0 || ::grantpt(ends[0]) != 0 || ::unlockpt(ends[0]) != 0) return false;
        ends[1] = ::open(::ptsname(ends[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
        return ends[1] >= 0;
    }
    void close(std::size_t end) {
        if (ends[end] >= 0) ::close(ends[end]);
        ends[end] = -1;
    }
};

/// Between fork and exec.
[[noreturn]] void become(const std::string& directory, const std::vector<std::string>& arguments,
                         const Circumstances& circumstances, const Pipe& in, const Pipe& out, const Pipe& err) {
    ::dup2(in.ends[0], STDIN_FILENO);
    if (!circumstances.in_file.empty()) ::dup2(::open(circumstances.in_file.c_str(), O_RDONLY), STDIN_FILENO);
    ::dup2(err.ends[1], STDERR_FILENO);
    int target = out.ends[1];
    if (!circumstances.out_file.empty()) target = ::open(circumstances.out_file.c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(target, STDOUT_FILENO);
    if (circumstances.out_closed) ::close(STDOUT_FILENO);
    if (circumstances.err_full) ::dup2(::open("/dev/full", O_WRONLY), STDERR_FILENO);
    if (circumstances.largest_file) {
        const rlimit limit{*circumstances.largest_file, *circumstances.largest_file};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    if (::chdir(directory.c_str()) != 0) ::_exit(126);
    if (circumstances.as_nobody && ::geteuid() == 0 && ::setuid(nobody) != 0) ::_exit(126);
    std::vector<char*> words;
    std::string name = CACHETALLY_PROGRAM;
    words.push_back(name.data());
    std::vector<std::string> copies = arguments;
    for (std::string& copy : copies) words.push_back(copy.data());
    words.push_back(nullptr);
#ifdef CACHETALLY_SANITIZED  // leaks are looked for where tests call the rooms: at the end of each process it takes its
                             // time
    const char* const given = std::getenv("ASAN_OPTIONS");
    const std::string options = given != nullptr ? given : "";
    ::setenv("ASAN_OPTIONS", (options + ":detect_leaks=0").c_str(), 1);
#endif
    ::execv(CACHETALLY_PROGRAM, words.data());
    ::_exit(127);
}

/// Whether a process would handle SIGINT.
bool handles_interrupts(pid_t process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("SigCgt:")) return (std::stoull(line.substr(7), nullptr, 16) >> (SIGINT - 1) & 1U) != 0;
    return false;
}

/// Feeds and listens until the process closes its outputs.
class Conversation {
public:
    Conversation(pid_t process, const Circumstances& circumstances, Pipe& in, Pipe& out, Pipe& err)
        : process_(process), circumstances_(circumstances), in_(in), out_(out), err_(err) {}

    Finished hold() {
        const auto end = Clock::now() + patience;
        while (out_.ends[0] >= 0 || err_.ends[0] >= 0) {
            close_input_when_done();
            std::array<pollfd, 3> files{
                {{in_waits() ? in_.ends[1] : -1, POLLOUT, 0}, {out_.ends[0], POLLIN, 0}, {err_.ends[0], POLLIN, 0}}};
            ::poll(files.data(), files.size(), 10);
            if (files[0].revents != 0) feed();
            if (files[1].revents != 0) listen(out_, finished_.out, circumstances_.out_reader_leaves);
            if (files[2].revents != 0) listen(err_, finished_.err, false);
            interrupt();
            if (Clock::now() > end) ::kill(process_, SIGKILL);
        }
        int status = 0;
        ::waitpid(process_, &status, 0);
        if (WIFEXITED(status)) finished_.status = WEXITSTATUS(status);
        if (WIFSIGNALED(status)) finished_.signal = WTERMSIG(status);
        return finished_;
    }

private:
    bool in_waits() const { return circumstances_.endless_input || fed_ < circumstances_.input.size(); }

    void close_input_when_done() {
        if (!in_waits() && !circumstances_.input_stays_open) in_.close(1);
    }

    void feed() {
        const std::string& text = circumstances_.input;
        const ssize_t count = ::write(in_.ends[1], text.data() + fed_, text.size() - fed_);
        if (count < 0 && errno == EAGAIN) return;
        if (count < 0) return in_.close(1);
        fed_ += static_cast<std::size_t>(count);
        if (circumstances_.endless_input && fed_ == text.size()) fed_ = 0;
    }

    static void listen(Pipe& pipe, std::string& text, bool leave) {
        std::array<char, 65536> buffer;
        const ssize_t count = ::read(pipe.ends[0], buffer.data(), leave ? 1 : buffer.size());
        if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
        if (count <= 0 || leave) pipe.close(0);
    }

    void interrupt() {
        if (interrupted_ || !circumstances_.interrupt_when || !handles_interrupts(process_) ||
            !circumstances_.interrupt_when())
            return;
        interrupted_ = true;
        for (int i = 0; i < 2; ++i)
            ::kill(process_, circumstances_.interrupt_by);  // as timeout does: to the program, and to its group
    }

    pid_t process_;
    const Circumstances& circumstances_;
    Pipe &in_, &out_, &err_;
    Finished finished_;
    std::size_t fed_ = 0;
    bool interrupted_ = false;
};

}  // namespace

Finished cachetally(const std::string& directory, const std::vector<std::string>& arguments,
                    const Circumstances& circumstances) {
    std::signal(SIGPIPE, SIG_IGN);
    Pipe in, out, err(circumstances.err_terminal);
    const pid_t process = ::fork();
    if (process < 0) throw std::runtime_error("cannot start a process");
    if (process == 0) {
        std::signal(SIGPIPE, SIG_DFL);
        become(directory, arguments, circumstances, in, out, err);
    }
    in.close(0), out.close(1), err.close(1);
    ::fcntl(in.ends[1], F_SETFL, O_NONBLOCK);
    return Conversation(process, circumstances, in, out, err).hold();
}

std::string listing(const std::string& directory) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) names.insert(entry.path().filename());
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
    return text;
}

}  // namespace cachetally::testing
