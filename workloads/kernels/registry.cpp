// SPDX-License-Identifier: BSD-3-Clause
// The factory: all kernels by name.
#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/text.hpp"
#include "workloads/kernels/kernels.hpp"

namespace cachetally {
namespace {

const std::vector<Kernel>& kernels() {
    static const std::vector<Kernel> all = [] {
        std::vector<Kernel> made;
        for (const KernelRow row : kernel_rows()) made.push_back(row());
        return made;
    }();
    return all;
}

std::unique_ptr<Workload> build(const Kernel& kernel, std::span<const std::string> options) {
    const std::string& name = kernel.info.name;
    try {
        return kernel.make(OptionValues(name, kernel.info.options, options));
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

std::unique_ptr<Workload> make_workload(std::string_view name, std::span<const std::string> options) {
    const auto kernel = std::ranges::find(kernels(), name, [](const Kernel& k) { return k.info.name; });
    if (kernel != kernels().end()) return build(*kernel, options);
    std::vector<std::string_view> names;
    for (const Kernel& known : kernels()) names.push_back(known.info.name);
    throw OptionError(fmt::format("there is no workload '{}'{}", name, advice(name, names)));
}

}  // namespace cachetally
