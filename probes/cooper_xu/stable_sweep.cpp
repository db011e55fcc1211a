// SPDX-License-Identifier: BSD-3-Clause
#include "probes/cooper_xu/stable_sweep.hpp"

#include <cmath>
#include <limits>

namespace cachetally {
namespace {

class Sweeper {
public:
    Sweeper(std::vector<std::uint64_t> sizes, const TimeOfSize& time, const SweepOptions& options)
        : time_(time), options_(options), unchanged_(sizes.size(), 0) {
        result_.cycles.assign(sizes.size(), std::numeric_limits<double>::infinity());
        result_.trials.assign(sizes.size(), 0);
        result_.knocked_out.assign(sizes.size(), 0);
        result_.left_out.assign(sizes.size(), 0);
        result_.sizes = std::move(sizes);
    }

    SweepResult run() {
        while (result_.sweeps < options_.most_sweeps && sweep()) {
            ++result_.sweeps;
            if (options_.knock_out) knock_out();
        }
        return std::move(result_);
    }

private:
    /// False when every size is done or knocked out.
    bool sweep() {
        bool any = false;
        for (std::size_t i = 0; i < unchanged_.size(); ++i) {
            if (unchanged_[i] >= options_.stability) continue;
            if (result_.knocked_out[i] != 0) {
                ++result_.runs_saved;
                ++result_.left_out[i];
                continue;
            }
            any = true;
            ++result_.runs;
            const double cycles = std::round(time_(result_.sizes[i], result_.trials[i]++));
            if (cycles >= result_.cycles[i]) {
                ++unchanged_[i];
                continue;
            }
            result_.cycles[i] = cycles;
            unchanged_[i] = 0;
            if (!options_.revive) continue;
            if (i > 0) result_.knocked_out[i - 1] = 0;
            if (i + 1 < unchanged_.size()) result_.knocked_out[i + 1] = 0;
        }
        return any;
    }

    void knock_out() {
        for (std::size_t i = 1; i + 1 < unchanged_.size(); ++i) {
            if (result_.cycles[i] != result_.cycles[i - 1] || result_.cycles[i] != result_.cycles[i + 1]) continue;
            if (result_.knocked_out[i] == 0) unchanged_[i] = 0;
            result_.knocked_out[i] = 1;
        }
    }

    const TimeOfSize& time_;
    const SweepOptions& options_;
    std::vector<unsigned> unchanged_;  ///< runs since the last minimum
    SweepResult result_;
};

}  // namespace

SweepResult stable_sweep(std::vector<std::uint64_t> sizes, const TimeOfSize& time, const SweepOptions& options) {
    return Sweeper(std::move(sizes), time, options).run();
}

std::vector<std::uint64_t> sample_sizes(std::uint64_t unit, std::uint64_t most) {
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t count = 1; count < 4 && count * unit <= most; ++count) sizes.push_back(count * unit);
    for (std::uint64_t octave = 4 * unit; octave <= most; octave *= 2)
        for (std::uint64_t quarter = 0; quarter < 4; ++quarter)
            if (octave + octave / 4 * quarter <= most) sizes.push_back(octave + octave / 4 * quarter);
    return sizes;
}

}  // namespace cachetally
