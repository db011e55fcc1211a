// SPDX-License-Identifier: BSD-3-Clause
// The folder of a campaign: what it is of (campaign.json), a file per bundle of points, who works on which bundle, and
// what went wrong. All that is known of a campaign is in these files (docs/campaigns.md, "The folder").
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cachetally/error.hpp"
#include "storage/file.hpp"

namespace cachetally {

class CampaignError : public Formatted<std::runtime_error> {
public:
    using Formatted::Formatted;
};

/// What a campaign is of. Equal manifests give equal results.
struct Manifest {
    std::string kind;     ///< "points", "sweep" or "validate"
    std::string program;  ///< version and commit
    std::string name;
    std::uint64_t items = 0;             ///< points, workloads, or machines
    std::vector<std::uint64_t> bundles;  ///< first item of each, and their number at the end
    nlohmann::ordered_json contents;     ///< by kind

    /// Of an item, in words.
    std::string noun() const { return kind == "points" ? "point" : kind == "sweep" ? "workload" : "machine"; }
    std::uint64_t count() const { return bundles.size() - 1; }
    std::uint64_t first(std::uint64_t bundle) const { return bundles[bundle]; }
    std::uint64_t end(std::uint64_t bundle) const { return bundles[bundle + 1]; }
};

/// This program, as manifests name it: with a hash of the program itself where it was built from changed sources.
std::string campaign_program();

/// A point that could not be computed.
struct PointFailure {
    std::uint64_t item = 0;
    std::string error;
    friend bool operator==(const PointFailure&, const PointFailure&) = default;
};

class CampaignFolder {
public:
    /// Begins a campaign in a folder, which is made where it is not there, or joins the one that was begun there with
    /// the same manifest. Throws CampaignError where there is another, StorageError where it cannot be written.
    CampaignFolder(std::string path, const Manifest& manifest);

    /// A campaign that was begun. Throws CampaignError where there is none, or it is of another version.
    explicit CampaignFolder(std::string path);

    const std::string& path() const { return path_; }
    const Manifest& manifest() const { return manifest_; }

    std::string file(const std::string& name) const { return path_ + "/" + name; }
    std::string bundle(std::uint64_t number) const;   ///< bundles/000012.h5
    std::string running(std::uint64_t number) const;  ///< bundles/000012.running

    /// Why a bundle that is there is no good: damaged, or not that of `hash`. Empty where it is whole.
    std::string fault(std::uint64_t number, const std::string& hash) const;

    /// Whether a bundle is there, whole, and that of `hash`.
    bool holds(std::uint64_t number, const std::string& hash) const;

    /// Out of the way, with a word in errors.log: for who has the bundle's lock, as it may be another one by now.
    void set_aside(std::uint64_t number, const std::string& reason) const;

    /// Of a bundle that is there.
    std::vector<PointFailure> failures(std::uint64_t number) const;

    /// Adds a line to errors.log.
    void log(const std::string& line) const;

    /// What workers look at between bundles: cancel() in one process ends all of them, on whatever machine.
    void cancel() const;
    bool is_cancelled() const;
    void go_on() const;

    /// Throws CampaignError where the folder is not there any more.
    void require_there() const;

private:
    void read_manifest();
    std::string path_;
    Manifest manifest_;
};

/// Who works on a bundle: a locked file, whose text says since which step. It is unlocked when its process ends,
/// however that ends; what is left then tells in which step.
class BundleLock {
public:
    /// Nothing where another process has it. `path`: CampaignFolder::running(), or what else only one may do.
    static std::optional<BundleLock> take(const std::string& path);
    BundleLock(BundleLock&& other) noexcept;
    BundleLock(const BundleLock&) = delete;
    BundleLock& operator=(const BundleLock&) = delete;
    ~BundleLock();

    /// A step begins. False where it ended its process twice already: it is left out, until the bundle is done.
    bool enter(std::uint64_t step);

    /// The bundle is there, or was given up by intention: nothing is left behind.
    void release();

    /// "HOST PID" of the process that works on a bundle; nothing where none does.
    static std::optional<std::string> owner(const std::string& file);

    /// In which steps processes ended, and how often: the same text while nothing changes.
    static std::string state(const std::string& file);

private:
    void read(const std::string& text);
    BundleLock(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
    int descriptor_;
    std::string path_;
    std::map<std::uint64_t, unsigned> deaths_;  ///< by step in which a process ended
};

/// A bundle's failures, in the group /failures: `item`, `error`.
void write_failures(Group& root, const std::vector<PointFailure>& failures);
std::vector<PointFailure> read_failures(const Group& root);

/// Makes what was written into a folder last: names, too. Throws StorageError.
void sync_folder(const std::string& path);

/// Writes a small file whole or not at all, and synced. Throws StorageError.
void write_durably(const std::string& path, const std::string& text);

}  // namespace cachetally
