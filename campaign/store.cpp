// SPDX-License-Identifier: BSD-3-Clause
#include "campaign/store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.hpp"
#include "storage/columns.hpp"
#include "storage/hash.hpp"
#include "storage/provenance.hpp"

namespace cachetally {
namespace {

namespace fs = std::filesystem;

constexpr const char* manifest_format = "cachetally campaign";
constexpr unsigned manifest_version = 1;

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

nlohmann::ordered_json to_json(const Manifest& manifest) {
    nlohmann::ordered_json json{{"format", manifest_format},   {"version", manifest_version},
                                {"kind", manifest.kind},       {"program", manifest.program},
                                {"name", manifest.name},       {"items", manifest.items},
                                {"bundles", manifest.bundles}, {"contents", manifest.contents}};
    json["hash"] = hash_text(json.dump());
    return json;
}

/// Without the places of files, which may be named in several ways, also from other machines: hashes are theirs.
nlohmann::ordered_json without_places(nlohmann::ordered_json json) {
    if (json.is_object()) json.erase("path");
    for (auto& each : json)
        if (each.is_structured()) each = without_places(std::move(each));
    return json;
}

bool is_same(const Manifest& a, const Manifest& b) {
    return a.kind == b.kind && a.program == b.program && a.name == b.name && a.items == b.items &&
           a.bundles == b.bundles && without_places(a.contents) == without_places(b.contents);
}

void write_all(int descriptor, const std::string& text, const std::string& path) {
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t written = ::write(descriptor, text.data() + done, text.size() - done);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw StorageError("{}: cannot write: {}", path, std::strerror(errno));
        done += static_cast<std::size_t>(written);
    }
}

/// Of its own, so that nobody else grows the same.
std::string unfinished(const std::string& path) {
    char host[65] = {};
    ::gethostname(host, sizeof host - 1);
    return fmt::format("{}.{}.{}.part", path, host, ::getpid());
}

/// Whether a folder is not there, is empty, or one in which a campaign began: its manifest comes first.
bool holds_only_campaign(const std::string& path) {
    std::error_code error;
    if (fs::exists(path + "/campaign.json", error)) return true;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        const bool begins = name.starts_with("campaign.json.") && name.ends_with(".part");
        if (!begins && !(name == "bundles" && fs::is_empty(at->path(), error))) return false;
    }
    return true;
}

std::string number_name(std::uint64_t number) { return fmt::format("{:06}", number); }

}  // namespace

std::string campaign_program() {
    const std::string version = program_version();
    if (version.find("-dirty") == std::string::npos && version.find("unknown") == std::string::npos) return version;
    return version + " " + hash_file("/proc/self/exe");
}

void sync_folder(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) throw StorageError("{}: cannot be opened: {}", path, std::strerror(errno));
    const int failed = ::fsync(descriptor);
    ::close(descriptor);
    if (failed != 0 && errno != EINVAL)  // file systems without it
        throw StorageError("{}: cannot be synced: {}", path, std::strerror(errno));
}

void write_durably(const std::string& path, const std::string& text) {
    const std::string part = unfinished(path);
    const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) throw StorageError("{}: cannot create: {}", part, std::strerror(errno));
    try {
        write_all(descriptor, text, path);
        if (::fsync(descriptor) != 0) throw StorageError("{}: cannot write: {}", path, std::strerror(errno));
    } catch (...) {
        ::close(descriptor);
        ::unlink(part.c_str());
        throw;
    }
    ::close(descriptor);
    if (::rename(part.c_str(), path.c_str()) != 0)
        throw StorageError("{}: cannot rename to {}: {}", part, path, std::strerror(errno));
    sync_folder(fs::path(path).parent_path().string());
}

CampaignFolder::CampaignFolder(std::string path, const Manifest& manifest)
    : path_(std::move(path)), manifest_(manifest) {
    std::error_code error;
    if (fs::exists(path_, error) && !fs::is_directory(path_, error))
        throw CampaignError("'{}' is a file; name a folder (--folder)", shown(path_));
    if (!holds_only_campaign(path_))
        throw CampaignError("'{}' holds files and no campaign; name another folder (--folder), which need not be there",
                            shown(path_));
    fs::create_directories(path_ + "/bundles", error);
    if (!fs::is_directory(path_ + "/bundles")) throw StorageError("{}: cannot be made: {}", path_, error.message());
    const std::string name = file("campaign.json"), part = unfinished(name);
    const std::string text = to_json(manifest).dump(1) + "\n";
    write_durably(part, text);
    const bool begun = ::link(part.c_str(), name.c_str()) == 0;  // of several that begin at once, one
    const int failed = errno;
    ::unlink(part.c_str());
    if (!begun && failed != EEXIST) {
        if (!fs::exists(name)) write_durably(name, text);  // the file system has no hard links
    }
    sync_folder(path_);
    read_manifest();
    if (is_same(manifest_, manifest)) return;
    const std::string other =
        manifest_.kind != manifest.kind || manifest_.name != manifest.name
            ? fmt::format("another campaign ('{}')", shown(manifest_.name))
        : manifest_.program != manifest.program
            ? fmt::format("this campaign of another program ({}; this is {})", manifest_.program, manifest.program)
        : manifest_.contents.contains("text") && manifest_.contents["text"] == manifest.contents["text"]
            ? std::string("this campaign with other machine files or traces, or bundles of another size")
            : std::string("this campaign with other contents or options");
    throw CampaignError("'{}' holds {}; name another folder (--folder)", shown(path_), other);
}

CampaignFolder::CampaignFolder(std::string path) : path_(std::move(path)) { read_manifest(); }

void CampaignFolder::read_manifest() {
    const std::string name = file("campaign.json");
    if (fs::is_regular_file(path_))
        throw CampaignError(
            "'{}' is a file; give the folder of its campaign, as in {}", shown(path_),
            shown(fs::path(path_).filename() == "campaign.json" ? fs::path(path_).parent_path().string()
                                                                : fs::path(path_).stem().string() + ".campaign"));
    if (!fs::exists(name))
        throw CampaignError(
            "'{}' holds no campaign: there is no campaign.json in it; one is begun by 'cachetally "
            "campaign run FILE.yaml'",
            shown(path_));
    const auto json = nlohmann::ordered_json::parse(text_of(name), nullptr, false);
    try {
        if (json.is_discarded() || json.at("format") != manifest_format)
            throw CampaignError("{} is damaged; begin the campaign anew in another folder", name);
        if (json.at("version") != manifest_version)
            throw CampaignError("{} is of version {} of campaigns; this program has version {}", name,
                                json.at("version").dump(), manifest_version);
        manifest_ = {json.at("kind"),  json.at("program"), json.at("name"),
                     json.at("items"), json.at("bundles"), json.at("contents")};
        if (json.at("hash") != to_json(manifest_).at("hash") || manifest_.bundles.size() < 2)
            throw CampaignError("{} is damaged: its hash is not that of its contents", name);
    } catch (const nlohmann::json::exception&) {
        throw CampaignError("{} is damaged; begin the campaign anew in another folder", name);
    }
}

std::string CampaignFolder::bundle(std::uint64_t number) const {
    return file("bundles/" + number_name(number) + ".h5");
}
std::string CampaignFolder::running(std::uint64_t number) const {
    return file("bundles/" + number_name(number) + ".running");
}

std::string CampaignFolder::fault(std::uint64_t number, const std::string& hash) const {
    try {
        verify_file(bundle(number));
        const InputFile file(bundle(number), Trust::file);
        const std::string found = file.root().text_attribute("bundle_hash");
        return found == hash ? "" : fmt::format("it is of other points (hash {} in place of {})", found, hash);
    } catch (const StorageError& damage) {
        return damage.what();
    }
}

bool CampaignFolder::holds(std::uint64_t number, const std::string& hash) const {
    std::error_code error;
    return fs::exists(bundle(number), error) && fault(number, hash).empty();
}

void CampaignFolder::set_aside(std::uint64_t number, const std::string& reason) const {
    const std::string path = bundle(number);
    std::error_code error;
    fs::create_directories(file("aside"), error);
    for (unsigned i = 1;; ++i) {
        const std::string aside = file(fmt::format("aside/{}.{}.h5", number_name(number), i));
        if (::link(path.c_str(), aside.c_str()) != 0 && errno == EEXIST) continue;
        ::unlink(path.c_str());
        return log(fmt::format("bundle {} was set aside as {}: {}", number, aside, reason));
    }
}

std::vector<PointFailure> CampaignFolder::failures(std::uint64_t number) const {
    return read_failures(InputFile(bundle(number), Trust::file).root());
}

void write_failures(Group& root, const std::vector<PointFailure>& failures) {
    Group group = root.create_group("failures");
    write_member(group, "item", failures, &PointFailure::item);
    write_member(group, "error", failures, &PointFailure::error);
    number_rows(group, "row", failures.size());
}

std::vector<PointFailure> read_failures(const Group& root) {
    const Group group = root.open_group("failures");
    std::vector<PointFailure> failures(group.open_dataset("item").rows());
    read_member(group, "item", failures, &PointFailure::item);
    read_member(group, "error", failures, &PointFailure::error);
    return failures;
}

void CampaignFolder::log(const std::string& line) const {
    const std::string name = file("errors.log");
    const auto seconds = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    char time[32] = {};
    std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%SZ", &utc);
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor < 0) return;  // what is said here is said elsewhere too
    const std::string text = fmt::format("{} {}\n", time, without_controls(line));
    [[maybe_unused]] const ssize_t written = ::write(descriptor, text.data(), text.size());
    ::close(descriptor);
}

void CampaignFolder::cancel() const { write_durably(file("cancelled"), "workers end after what they are doing\n"); }

bool CampaignFolder::is_cancelled() const {
    std::error_code error;
    return fs::exists(file("cancelled"), error);
}

void CampaignFolder::go_on() const { ::unlink(file("cancelled").c_str()); }

void CampaignFolder::require_there() const {
    std::error_code error;
    if (!fs::exists(file("campaign.json"), error))
        throw CampaignError("'{}' is not there any more, or cannot be read", shown(path_));
}

}  // namespace cachetally
