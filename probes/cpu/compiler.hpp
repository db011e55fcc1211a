// SPDX-License-Identifier: BSD-3-Clause
// CCompiler: the system's C compiler, from a text to functions that can be called.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "cachetally/error.hpp"

namespace cachetally {

/// A compiler that is not there or fails, or code that cannot be loaded. The message names the compiler.
class CompileError : public Formatted<std::runtime_error> {
public:
    using Formatted::Formatted;
};

/// A loaded library, and its file, as long as this lives.
class CompiledCode {
public:
    explicit CompiledCode(void* handle) : handle_(handle) {}
    ~CompiledCode();
    CompiledCode(const CompiledCode&) = delete;
    CompiledCode& operator=(const CompiledCode&) = delete;

    /// The address of a function or variable. Throws CompileError where there is none.
    void* find(const std::string& name) const;

private:
    void* handle_;
};

/// How everything is compiled, for the processor that it runs on: optimised as far as registers are allocated, and to
/// multiply-adds, which GCC counts among the expensive ones.
inline constexpr const char* cpu_compiler_flags[] = {
    "-std=gnu11", "-O1", "-fexpensive-optimizations", "-march=native", "-w", "-shared", "-fPIC"};

class CCompiler {
public:
    /// `command`: a name that is looked for in PATH, or a path. `go_on` is asked while the compiler runs; where it
    /// throws, the compiler is ended, and the exception passed on.
    CCompiler(std::string command, std::function<void()> go_on)
        : command_(std::move(command)), go_on_(std::move(go_on)) {}

    /// Compiles and loads. Its files are in a folder of its own (in TMPDIR or /tmp), which is removed before this
    /// returns or throws. Throws CompileError.
    std::unique_ptr<CompiledCode> compile(const std::string& source) const;

private:
    void run(const std::string& folder) const;

    std::string command_;
    std::function<void()> go_on_;
};

}  // namespace cachetally
