// SPDX-License-Identifier: BSD-3-Clause
// FitCandidates: machines with their latencies solved, and how far their response curves are off.
#pragma once

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "probes/fit/fit.hpp"
#include "probes/fit/keys.hpp"
#include "probes/fit/response_model.hpp"

namespace cachetally {

/// A candidate with its latencies solved, and how far it is off.
struct FittedMachine {
    std::string value;
    MachineDescription machine;
    std::vector<ModelPoint> points = {};
    double error = 0;  ///< where it is above what was asked for: this much at least
};

/// Simulates each point once for machines that can only be alike there, whatever their latencies (but for forget()) and
/// the levels that no load reaches; and slow points only where quick ones do not rule a machine out. (ours)
class FitCandidates {
public:
    FitCandidates(const ResponseModel& model, const FitOptions& options);

    /// In the order of the candidates, the same whatever the number of threads; machines that there cannot be are left
    /// out. Of those whose error is above `most`, by a margin, only that is found. Throws ProbingEnded.
    std::vector<FittedMachine> fitted(const std::vector<FitCandidate>& candidates,
                                      double most = std::numeric_limits<double>::infinity());

    /// What walks read takes the latencies that were simulated: where these have changed much, it is simulated anew.
    void forget() { known_.clear(); }

    /// Machines of which points were simulated.
    unsigned simulations() const { return simulations_; }

private:
    struct Work;
    void do_work(Work& work, double most) const;

    const ResponseModel& model_;
    const FitOptions& options_;
    unsigned jobs_, simulations_ = 0;
    std::array<std::vector<std::size_t>, ResponseModel::stages> stages_;   ///< points
    std::map<std::string, std::vector<std::optional<ModelPoint>>> known_;  ///< by the levels that were reached
};

}  // namespace cachetally
