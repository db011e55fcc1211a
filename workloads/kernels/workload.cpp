// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/kernels/workload.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "base/random.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "workloads/kernels/kernels.hpp"

namespace cachetally {
namespace {

std::string mebibytes(std::uint64_t bytes) { return fmt::format("{} MiB", bytes >> 20); }

}  // namespace

Address Layout::place(std::string name, std::uint64_t bytes, std::uint32_t element_bytes, std::uint64_t offset) {
    const Address base = next_ + offset;
    next_ += divide_round_up(offset + bytes, page) * page;
    regions_.push_back({std::move(name), base, bytes, element_bytes});
    return base;
}

void Layout::reserve_host(std::uint64_t bytes) {
    host_bytes_ += bytes;
    const auto memory =
        static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    if (host_bytes_ > memory)
        throw OptionError("the data structures take {}, the memory of this machine is {}; make them smaller",
                          mebibytes(host_bytes_), mebibytes(memory));
}

Address Layout::stack(unsigned processor) {
    // One page lies above the stack pointer, as the frames of the callers would. Where in the page it
    // points matters to monitors with groups of lines (docs/workloads.md, lu).
    const Address first = next_ < 0x7f000000 ? 0x7ffef000 : 0x7ffffffef000;
    const Address base = first - processor * (stack_bytes + page);
    regions_.push_back({"stack" + std::to_string(processor), base, stack_bytes, 4});
    return base + stack_bytes / 2 + 32;
}

Share share_of(std::uint64_t count, unsigned number, unsigned processors) {
    const std::uint64_t each = count / processors, over = count % processors;
    const std::uint64_t begin = number * each + std::min<std::uint64_t>(number, over);
    return {begin, begin + each + (number < over ? 1 : 0)};
}

std::uint64_t fingerprint_of(const void* data, std::size_t bytes) {
    std::uint64_t hash = splitmix64(bytes);
    for (std::size_t i = 0; i < bytes; i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, static_cast<const char*>(data) + i, std::min<std::size_t>(8, bytes - i));
        hash = splitmix64(hash ^ word);
    }
    return hash;
}

namespace {

std::vector<std::string_view> views(const std::vector<std::string>& words) { return {words.begin(), words.end()}; }

}  // namespace

std::string WorkloadOption::range() const {
    return choices.empty() ? fmt::format("{} .. {}", least, most) : fmt::format("{}", fmt::join(choices, ", "));
}

WorkloadOption number_option(std::string name, std::uint64_t initial, std::string meaning, std::uint64_t least,
                             std::uint64_t most) {
    return {std::move(name), std::to_string(initial), std::move(meaning), {}, least, most};
}

WorkloadOption choice_option(std::string name, std::string meaning, std::vector<std::string> choices) {
    std::string initial = choices.front();
    return {std::move(name), std::move(initial), std::move(meaning), std::move(choices)};
}

OptionValues::OptionValues(std::string_view workload, std::vector<WorkloadOption> options,
                           std::span<const std::string> texts)
    : workload_(workload), options_(std::move(options)) {
    for (const WorkloadOption& option : options_) values_[option.name] = checked(option, option.initial);
    for (const std::string& text : texts) set(text);
}

void OptionValues::set(const std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) throw OptionError("{}: '{}' is not an option; write name=value", workload_, text);
    const std::string name = text.substr(0, equals);
    const auto option = std::ranges::find(options_, name, &WorkloadOption::name);
    if (option == options_.end()) {
        std::vector<std::string> names;
        for (const WorkloadOption& known : options_) names.push_back(known.name);
        throw OptionError("{}: there is no option '{}'{}", workload_, name, advice(name, views(names)));
    }
    if (std::ranges::find(given_, name) != given_.end())
        throw OptionError("{}: option '{}' is given twice; keep one of them", workload_, name);
    given_.push_back(name);
    values_[name] = checked(*option, text.substr(equals + 1));
}

OptionValues::Value OptionValues::checked(const WorkloadOption& option, const std::string& text) const {
    if (!option.choices.empty()) {
        if (std::ranges::find(option.choices, text) == option.choices.end())
            throw OptionError("{}: '{}' is not a value of option '{}'{}", workload_, text, option.name,
                              advice(text, views(option.choices)));
        return {text, 0};
    }
    const auto value = parse_whole(text);
    if (!value || *value < option.least || *value > option.most)
        throw OptionError("{}: {}={} is {}; it must be from {} to {}", workload_, option.name, text,
                          value || is_size_out_of_range(text) ? "out of range" : "not a whole number", option.least,
                          option.most);
    return {text, *value};
}

std::uint64_t OptionValues::number(std::string_view name) const { return values_.find(name)->second.number; }

std::string_view OptionValues::choice(std::string_view name) const { return values_.find(name)->second.text; }

void OptionValues::reject(std::string_view name, std::string_view what) const {
    throw OptionError("{}: {}={} {}", workload_, name, values_.find(name)->second.text, what);
}

namespace {

const std::vector<Kernel>& kernels() {
    static const std::vector<Kernel> all = [] {
        std::vector<Kernel> made;
        for (const KernelRow row : kernel_rows()) made.push_back(row());
        return made;
    }();
    return all;
}

const Kernel& kernel_named(std::string_view name) {
    const auto kernel = std::ranges::find(kernels(), name, [](const Kernel& k) { return k.info.name; });
    if (kernel != kernels().end()) return *kernel;
    std::vector<std::string_view> names;
    for (const Kernel& known : kernels()) names.push_back(known.info.name);
    const std::vector<std::string_view> words = split(name, ',');
    if (words.size() > 1 && std::ranges::find(names, words.front()) != names.end())
        throw OptionError("there is no workload '{}'; its options are words of their own: {}", name,
                          fmt::join(words, " "));
    throw OptionError("there is no workload '{}'{}", name, advice(name, names));
}

std::unique_ptr<Workload> build(const Kernel& kernel, std::span<const std::string> options) {
    const std::string& name = kernel.info.name;
    try {
        const OptionValues values(name, kernel.info.options, options);
        kernel.check(values);
        return kernel.make(values);
    } catch (const std::bad_alloc&) {
        throw OptionError(name + ": the data structures do not fit into memory; make them smaller");
    }
}

}  // namespace

WorkloadOption processors_option() {
    return number_option("processors", 1, "logical processors, one stream of references each", 1, 1024);
}

unsigned processors_of(const OptionValues& options) { return static_cast<unsigned>(options.number("processors")); }

const std::vector<WorkloadInfo>& workload_list() {
    static const std::vector<WorkloadInfo> all = [] {
        std::vector<WorkloadInfo> infos;
        for (const Kernel& kernel : kernels()) infos.push_back(kernel.info);
        return infos;
    }();
    return all;
}

const WorkloadInfo* find_workload(std::string_view name) {
    const auto found = std::ranges::find(workload_list(), name, &WorkloadInfo::name);
    return found == workload_list().end() ? nullptr : &*found;
}

std::unique_ptr<Workload> make_workload(std::string_view name, std::span<const std::string> options) {
    return build(kernel_named(name), options);
}

std::string settled_options(std::string_view name, std::span<const std::string> options) {
    const WorkloadInfo& info = kernel_named(name).info;
    const OptionValues values(info.name, info.options, options);
    std::string text = info.name;
    for (const WorkloadOption& option : info.options)
        text += option.choices.empty() ? fmt::format(" {}={}", option.name, values.number(option.name))
                                       : fmt::format(" {}={}", option.name, values.choice(option.name));
    return text;
}

void check_options(std::string_view name, std::span<const std::string> options) {
    const Kernel& kernel = kernel_named(name);
    kernel.check(OptionValues(kernel.info.name, kernel.info.options, options));
}

}  // namespace cachetally
