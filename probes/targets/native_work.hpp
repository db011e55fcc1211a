// SPDX-License-Identifier: BSD-3-Clause
// NativeWork: what is timed on the machine that the program runs on, in pieces of any length.
#pragma once

#include <cstdint>
#include <vector>

#include "probes/targets/native_arena.hpp"

namespace cachetally {

class NativeWork {
public:
    virtual ~NativeWork() = default;

    /// Goes on where it stopped, by so many steps: a multiple of grain().
    virtual void go_on(std::uint64_t steps) = 0;

    virtual std::uint64_t lap() const = 0;    ///< steps after which it begins anew: a multiple of grain()
    virtual std::uint64_t grain() const = 0;  ///< steps that cannot be parted
};

/// Steps are loads.
class ChaseWork final : public NativeWork {
public:
    /// `at`: of each chain the first location; `lap`: loads of all of them. With stores it is one chain.
    ChaseWork(std::vector<void**> at, std::uint64_t lap, bool stores = false)
        : at_(std::move(at)), lap_(lap), stores_(stores) {}

    void go_on(std::uint64_t loads) override {
        if (stores_)
            at_.front() = follow_and_store(at_.front(), loads);
        else if (at_.size() == 1)
            at_.front() = follow(at_.front(), loads);
        else
            follow_in_turn(at_, loads / at_.size());
    }
    std::uint64_t lap() const override { return lap_; }
    std::uint64_t grain() const override { return at_.size(); }

private:
    std::vector<void**> at_;
    std::uint64_t lap_;
    bool stores_;
};

}  // namespace cachetally
