// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/capture/captured_files.hpp"

#include <algorithm>
#include <utility>

namespace cachetally {
namespace {

bool overlap(const MappedFile& a, const MappedFile& b) {
    return a.base - b.base < b.bytes || b.base - a.base < a.bytes;
}

bool has_same_code(const std::vector<MappedFile>& a, const std::vector<MappedFile>& b) {
    const auto holds_code_of = [](const std::vector<MappedFile>& all, const std::vector<MappedFile>& some) {
        return std::ranges::all_of(
            some, [&](const MappedFile& file) { return !file.is_code() || std::ranges::find(all, file) != all.end(); });
    };
    return holds_code_of(a, b) && holds_code_of(b, a);
}

}  // namespace

void CapturedFiles::add(const MappedFile& file) {
    Files& now = eras_[era_];
    if (std::ranges::find(now, file) != now.end()) return;
    now.push_back(file);
    if (!file.is_code()) return;
    // A loader maps the beginning of a file before its code.
    const auto is_beginning = [&](const MappedFile& other) { return other.path == file.path && other.offset == 0; };
    const auto latest = std::ranges::find_if(now.rbegin(), now.rend(), is_beginning);
    const auto added = latest == now.rend() ? std::prev(now.end()) : std::prev(latest.base());
    std::vector<std::string> gone;
    for (auto old = now.begin(); old != added; ++old)
        if (old->is_code() &&
            (old->path == file.path ? old->offset == file.offset && old->base != file.base : overlap(*old, file)))
            gone.push_back(old->path);
    if (gone.empty()) return;
    Files next;
    std::copy_if(now.begin(), added, std::back_inserter(next),
                 [&](const MappedFile& old) { return std::ranges::find(gone, old.path) == gone.end(); });
    next.insert(next.end(), added, now.end());
    now.erase(added, now.end());
    turn_to(std::move(next));
}

void CapturedFiles::clear() {
    eras_.emplace_back();
    era_ = eras_.size() - 1;
}

void CapturedFiles::turn_to(Files files) {
    const auto known = std::ranges::find_if(eras_, [&](const Files& era) { return has_same_code(era, files); });
    era_ = static_cast<std::size_t>(known - eras_.begin());
    if (known == eras_.end()) eras_.push_back(std::move(files));
}

}  // namespace cachetally
