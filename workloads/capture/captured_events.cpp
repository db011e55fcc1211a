// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/capture/captured_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/text.hpp"
#include "workloads/capture/ring.h"
#include "workloads/traces/byte_stream.hpp"

namespace cachetally {
namespace {

/// A text that fills the rest of a control.
std::string text_of(std::span<const std::uint64_t> words) {
    if (words.empty()) return {};
    const char* const begin = reinterpret_cast<const char*>(words.data());
    return std::string(begin, ::strnlen(begin, words.size_bytes()));
}

std::size_t words_at_least(unsigned kind) {
    switch (kind) {
        case CT_MAPPED: return 5;
        case CT_ALLOCATED:
        case CT_MAPPED_BY: return 3;
        case CT_UNMAPPED:
        case CT_BREAK: return 2;
        case CT_RELEASED: return 1;
        case CT_REGION: return 4;
        case CT_STACK: return 3;
        case CT_EXECUTED: return 1;
        case CT_FORKED:
        case CT_EXITED:
        case CT_DROPPED:
        case CT_THREAD_CREATED: return 1;
        default: return 0;
    }
}

/// Also of one that cannot be read.
std::string name_of_region(std::span<const std::uint64_t> words) {
    std::string name = text_of(words);
    return name.empty() ? "(region without a name)" : name;
}

}  // namespace

Control CapturedEvents::phase(std::span<const std::uint64_t> words) {
    std::string name = without_controls(text_of(words));
    while (name.size() > longest_phase_name || find_no_utf8(name) != std::string::npos) name.pop_back();
    name = trimmed(name);
    phase_ = 0;
    if (name.empty()) return barrier();
    const auto found = std::ranges::find(phase_names, name);
    phase_ = static_cast<std::uint32_t>(found - phase_names.begin()) + 1;
    if (found == phase_names.end()) phase_names.push_back(std::move(name));
    return barrier();
}

std::string ended_by(const ProgramEnd& end) {
    return fmt::format("the program was ended by signal {} ({})", end.signal, ::strsignal(end.signal));
}

void CapturedEvents::add(MappedFile file) {
    by_era.add(file);
    files.push_back(std::move(file));
}

void CapturedEvents::take(unsigned kind, std::span<const std::uint64_t> words) {
    if (words.size() < words_at_least(kind))
        throw TraceError(
            fmt::format("the captured program's ring is damaged: control {} has {} words", kind, words.size()));
    switch (kind) {
        case CT_MAPPED:
            if (std::string path = text_of(words.subspan(4)); !path.empty())
                add({words[0], words[1], static_cast<std::uint32_t>(words[2]), words[3], std::move(path)});
            break;
        case CT_REGION:
            regions.push_back({name_of_region(words.subspan(3)), words[0], words[1],
                               static_cast<std::uint32_t>(std::clamp<std::uint64_t>(words[2], 1, ~std::uint32_t{0}))});
            break;
        case CT_STACK:
            regions.push_back(
                {words[0] == 1 ? "stack" : fmt::format("stack of thread {}", words[0]), words[1], words[2], 1});
            break;
        case CT_BEGUN:
            if (!executed.empty()) by_era.clear();
            executed.clear();
            break;
        case CT_THREAD_CREATED: ++threads; break;
        case CT_FORKED: ++forks; break;
        case CT_EXECUTED: executed = text_of(words); break;
        case CT_DROPPED: dropped += words[0]; break;
        case CT_EXITED:
            end = words[0] >= 256 ? ProgramEnd{0, static_cast<int>(words[0] - 256)}
                                  : ProgramEnd{static_cast<int>(words[0]), 0};
            break;
        default: break;
    }
}

}  // namespace cachetally
