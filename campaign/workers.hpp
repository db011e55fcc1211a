// SPDX-License-Identifier: BSD-3-Clause
// Bundles computed in processes of their own, so that one that ends its process takes nothing with it.
#pragma once

#include <functional>

#include "campaign/store.hpp"

namespace cachetally {

/// What is said of steps while a bundle is computed.
class Steps {
public:
    Steps(BundleLock& lock, std::function<bool()> interrupted) : lock_(lock), interrupted_(std::move(interrupted)) {}

    /// Before each: false where the step ended its process twice, and is to be left out.
    bool enter(std::uint64_t step) { return lock_.enter(step); }

    /// After the last: what ends the process from here on is the fault of none. Throws CampaignError where that
    /// happened twice.
    void end();

    bool interrupted() const { return interrupted_(); }

private:
    BundleLock& lock_;
    std::function<bool()> interrupted_;
};

/// An end was asked for while a bundle was computed: it is left as it was.
struct BundleInterrupted {};

inline constexpr const char* ended_twice = "ended its process twice (errors.log)";

/// What a campaign computes. Both are called in processes of their own, too, and may throw.
struct BundleWork {
    /// Of all that determines the results of a bundle.
    std::function<std::string(std::uint64_t bundle)> hash;
    /// Writes a bundle's results below `root`, after Steps::end(). `before`: the same bundle, of which some items
    /// failed; else null. Returns which items fail now; throws BundleInterrupted, and what makes the whole bundle
    /// impossible.
    std::function<std::vector<PointFailure>(Group& root, std::uint64_t bundle, Steps& steps, const InputFile* before)>
        compute;
};

struct WorkOptions {
    unsigned jobs = 1;                    ///< processes at a time
    std::uint64_t shard = 1, shards = 1;  ///< bundle b belongs to shard 1 + b % shards
    bool retry = false;                   ///< failed items are computed again
    std::function<bool()> interrupted;
    std::function<void(std::uint64_t done, std::uint64_t all)> progress = {};  ///< items of the shard
};

struct WorkResult {
    std::uint64_t computed = 0;  ///< bundles, by this call
    std::uint64_t missing = 0;   ///< bundles of the shard that are not there at the end
    bool interrupted = false;    ///< or cancelled
    std::string error;           ///< why the work ended early; empty where it did not
};

/// Computes the bundles of a shard that are not there. Throws CampaignError and StorageError where nothing can be
/// begun.
WorkResult run_bundles(const CampaignFolder& folder, const BundleWork& work, const WorkOptions& options);

}  // namespace cachetally
