// SPDX-License-Identifier: BSD-3-Clause
// Processor: what a kernel sees of the logical processor that it runs on; Array: data that is touched in its sight.
// Small numerical helpers that several kernels need.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/random.hpp"
#include "cachetally/reference_source.hpp"

namespace cachetally {

class Fiber;

/// Takes references one by one and hands them over in batches. Not copied: the kernel and the source share it.
class Processor {
public:
    static constexpr std::size_t batch_references = 2048;  ///< half of a usual L1, so that they stay there

    explicit Processor(unsigned number) : number_(number), batch_(batch_references) { restart(); }
    Processor(const Processor&) = delete;
    Processor& operator=(const Processor&) = delete;

    unsigned number() const { return number_; }

    /// `site` is a small number of the kernel's own for the statement that makes the reference.
    void load(Address address, std::uint16_t size, std::uint32_t site = 0, std::uint8_t flags = 0) {
        emit(address, {site, size, ReferenceKind::load, flags});
    }
    void store(Address address, std::uint16_t size, std::uint32_t site = 0, std::uint8_t flags = 0) {
        emit(address, {site, size, ReferenceKind::store, flags});
    }

    /// All processors meet. `next_phase`: what they do then, in a few words.
    void barrier(std::string_view next_phase = {});

    /// `function` is an index into Workload::functions().
    void enter(std::uint32_t function) { hand_over({Control::Kind::enter_function, function}); }
    void leave() { hand_over({Control::Kind::leave_function, 0}); }

private:
    friend class WorkloadSource;

    struct Tail {
        std::uint32_t site;
        std::uint16_t size;
        ReferenceKind kind;
        std::uint8_t flags;
    };

    void emit(Address address, Tail tail) {
        *next_ = {address, tail.site, tail.size, tail.kind, tail.flags};
        if (++next_ == end_) [[unlikely]]
            hand_over({});
    }

    /// Ends the batch with a control and waits until it has been taken.
    void hand_over(Control control);
    /// All processors meet, and the present phase gets a name.
    void name_phase(std::string_view name);
    /// As controls have it.
    std::uint32_t number_of(std::string_view phase);
    void restart() {
        next_ = batch_.data();
        end_ = next_ + batch_.size();
    }

    unsigned number_;
    Reference* next_ = nullptr;
    Reference* end_ = nullptr;
    std::vector<Reference> batch_;
    Control control_;
    Fiber* fiber_ = nullptr;
    std::vector<std::string>* phase_names_ = nullptr;  ///< of all processors
};

/// Elements at consecutive simulated addresses, with the data itself. read() and write() do both: the access to the
/// data and the reference; host() touches the data alone.
template <class T>
class Array {
public:
    Array() = default;
    Array(Address base, std::uint64_t count) : base_(base), data_(count) {}

    T read(Processor& p, std::uint64_t i, std::uint32_t site = 0) const {
        p.load(address(i), sizeof(T), site, flags);
        return data_[i];
    }
    void write(Processor& p, std::uint64_t i, T value, std::uint32_t site = 0) {
        p.store(address(i), sizeof(T), site, flags);
        data_[i] = value;
    }

    Address address(std::uint64_t i) const { return base_ + i * sizeof(T); }
    std::uint64_t size() const { return data_.size(); }
    std::span<T> host() { return data_; }
    std::span<const T> host() const { return data_; }

private:
    static_assert(sizeof(T) <= 16, "one element is one reference");
    static constexpr std::uint8_t flags = std::is_floating_point_v<T> ? reference_flag::floating_point : 0;

    Address base_ = 0;
    std::vector<T> data_;
};

/// Uniform in [0, 1).
inline double uniform(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

/// The larger of two magnitudes; not-a-number wins.
inline double worse(double residual, double difference) {
    return std::abs(difference) <= residual ? residual : std::abs(difference);
}

}  // namespace cachetally
