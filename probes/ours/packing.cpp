// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/packing.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace cachetally {
namespace {

/// Of a level: ways are up to 3 times a power of two long, and there are up to 24 of them, so that a piece lies in one
/// third of a way, or less.
constexpr std::uint64_t pieces_of_level = 96;
constexpr unsigned enough_failures = 64;   ///< in a row
constexpr unsigned least_failures = 32;    ///< where no pieces are left
constexpr std::size_t most_trials = 1024;  ///< pieces that are tried

class Packing {
public:
    Packing(SpanSweep& sweep, std::uint64_t quiet, double inside, double beyond)
        : sweep_(sweep),
          quiet_(quiet),
          piece_(std::bit_floor(quiet / pieces_of_level)),
          stride_(std::min(sweep.stride_at(quiet), piece_)),
          most_(inside + (beyond - inside) / 2) {
        for (std::uint64_t i = 0; i < quiet / piece_; ++i) held_.push_back(i * piece_);
        cycles_ = time();
    }

    /// Takes out what does not fit: on other pages the level may have been quiet for longer.
    void prune() {
        for (std::size_t i = held_.size(); i-- > 0;) {
            const double before = cycles_ * loads();
            const std::uint64_t taken = std::exchange(held_[i], held_.back());
            held_.pop_back();
            const double cycles = time();
            if (before - cycles * loads() > most_ * static_cast<double>(lines())) {
                cycles_ = cycles;
            } else {
                held_.push_back(taken);
            }
        }
    }

    std::optional<std::uint64_t> fill() {
        unsigned failures = 0;
        for (const std::uint64_t candidate : candidates()) {
            failures = fits(candidate) ? 0 : failures + 1;
            if (failures == enough_failures) break;
        }
        if (failures < least_failures) return std::nullopt;
        return held_.size() * piece_;
    }

private:
    /// Pieces beyond those held, in random order: those of a page fill sets next to each other.
    std::vector<std::uint64_t> candidates() const {
        std::vector<std::uint64_t> rest;
        for (std::uint64_t at = quiet_ / piece_ * piece_; at + piece_ <= sweep_.arena_bytes(); at += piece_)
            rest.push_back(at);
        shuffle(rest, piece_);
        rest.resize(std::min(rest.size(), most_trials));
        return rest;
    }

    double time() { return sweep_.time_of_pieces(held_, piece_, stride_); }
    double loads() const { return static_cast<double>(held_.size() * lines()); }
    std::uint64_t lines() const { return piece_ / stride_; }

    bool fits(std::uint64_t candidate) {
        const double before = cycles_ * loads();
        held_.push_back(candidate);
        const double cycles = time();
        if (cycles * loads() - before > most_ * static_cast<double>(lines())) {
            held_.pop_back();
            return false;
        }
        cycles_ = cycles;
        return true;
    }

    SpanSweep& sweep_;
    std::uint64_t quiet_, piece_, stride_;
    double most_;                      ///< cycles of a line that fits
    std::vector<std::uint64_t> held_;  ///< offsets of pieces
    double cycles_ = 0;                ///< per load of what is held
};

}  // namespace

std::optional<std::uint64_t> packed_capacity(SpanSweep& sweep, std::uint64_t quiet, double inside, double beyond) {
    if (!sweep.fields() || quiet < pieces_of_level * sweep.stride_at(quiet)) return std::nullopt;
    Packing packing(sweep, quiet, inside, beyond);
    packing.prune();
    return packing.fill();
}

}  // namespace cachetally
