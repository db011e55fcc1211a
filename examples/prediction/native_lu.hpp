// SPDX-License-Identifier: BSD-3-Clause
// LU as a program of its own: the loops of the kernel (workloads/kernels/lu_program.hpp) on plain memory.
#pragma once

#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "workloads/kernels/lu_program.hpp"

namespace cachetally::prediction {

/// Doubles on ordinary pages, which the fitted model is about, `offset` bytes after a page's beginning (the kernel's
/// base_offset, so that lines and pages are cut alike).
class Doubles {
public:
    explicit Doubles(std::uint64_t count, std::uint64_t offset = 40)
        : count_(count), bytes_(count * sizeof(double) + offset), offset_(offset) {
        memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory_ == MAP_FAILED)
            throw std::system_error(errno, std::generic_category(), std::to_string(bytes_) + " bytes of memory");
        madvise(memory_, bytes_, MADV_NOHUGEPAGE);  // refused where there are no large pages anyway
    }
    ~Doubles() { munmap(memory_, bytes_); }
    Doubles(const Doubles&) = delete;
    Doubles& operator=(const Doubles&) = delete;

    std::span<double> values() {
        return {reinterpret_cast<double*>(static_cast<char*>(memory_) + offset_), static_cast<std::size_t>(count_)};
    }

private:
    std::uint64_t count_, bytes_, offset_;
    void* memory_ = nullptr;
};

/// The data of lu::Program as memory and no more. One processor owns all blocks.
class Plain {
public:
    explicit Plain(std::span<double> a) : a_(a.data()) {}

    double read(std::uint64_t i, lu::Site) const { return a_[i]; }
    void write(std::uint64_t i, double value, lu::Site) { a_[i] = value; }
    void call() {}
    void enter(lu::Function) {}
    void leave() {}
    void barrier(std::string_view) {}
    bool owns(std::uint64_t, std::uint64_t) const { return true; }

private:
    double* a_;
};

/// The same, with a count of the accesses by statement, and of the calls of daxpy.
class Counted : public Plain {
public:
    using Plain::Plain;

    double read(std::uint64_t i, lu::Site site) {
        ++reads_[site];
        return Plain::read(i, site);
    }
    void write(std::uint64_t i, double value, lu::Site site) {
        ++writes_[site];
        Plain::write(i, value, site);
    }
    void call() { ++calls_; }

    std::uint64_t calls() const { return calls_; }
    std::uint64_t iterations() const { return writes_[lu::daxpy_a]; }  ///< of daxpy
    std::uint64_t divisions() const { return writes_[lu::pivot]; }
    std::uint64_t references() const {
        std::uint64_t sum = 0;
        for (const std::uint64_t count : reads_) sum += count;
        for (const std::uint64_t count : writes_) sum += count;
        return sum;
    }

private:
    std::array<std::uint64_t, lu::stack_use + 1> reads_{}, writes_{};
    std::uint64_t calls_ = 0;
};

/// Writes the kernel's random matrix, of the kernel's seed.
inline void fill(std::span<double> a, const lu::Blocks& blocks, std::span<const double> matrix) {
    for (std::uint64_t j = 0; j < blocks.n; ++j)
        for (std::uint64_t i = 0; i < blocks.n; ++i) a[blocks.index(i, j)] = matrix[i + j * blocks.n];
}

}  // namespace cachetally::prediction
