// SPDX-License-Identifier: BSD-3-Clause
// Workloads by name, their options with ranges, and where their data structures lie in the simulated address space.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cachetally/error.hpp"
#include "cachetally/reference_source.hpp"
#include "workloads/kernels/processor.hpp"

namespace cachetally {

/// Regions follow each other from 0x10000000, each beginning `offset` bytes after a page boundary; stacks lie below
/// 0x7fff1000, or far above where the regions reach that high.
class Layout {
public:
    static constexpr Address heap = 0x10000000;
    static constexpr std::uint64_t page = 4096;
    static constexpr std::uint64_t stack_bytes = 8192;

    /// Reserves addresses; returns the first.
    Address place(std::string name, std::uint64_t bytes, std::uint32_t element_bytes, std::uint64_t offset = 0);

    template <class T>
    Array<T> array(std::string name, std::uint64_t count, std::uint64_t offset = 0) {
        reserve_host(count * sizeof(T));
        return {place(std::move(name), count * sizeof(T), sizeof(T), offset), count};
    }

    /// A two-dimensional array: `rows` times `columns` elements, those of a row side by side.
    template <class T>
    Array<T> matrix(std::string name, std::uint64_t rows, std::uint64_t columns, std::uint64_t offset = 0) {
        Array<T> all = array<T>(std::move(name), rows * columns, offset);
        regions_.back().row_elements = static_cast<std::uint32_t>(columns);
        return all;
    }

    /// To be called before so many bytes of data are allocated. Throws OptionError where this machine's memory cannot
    /// hold all that was reserved.
    void reserve_host(std::uint64_t bytes);

    /// The stack of a processor, region "stackP"; to be placed after all other regions. Returns the stack pointer; the
    /// stack grows down from there.
    Address stack(unsigned processor);

    const std::vector<Region>& regions() const { return regions_; }

private:
    Address next_ = heap;
    std::uint64_t host_bytes_ = 0;
    std::vector<Region> regions_;
};

/// The part of 0 .. count - 1 that is processor `number`'s: contiguous, sizes differ by at most one.
struct Share {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};
Share share_of(std::uint64_t count, unsigned number, unsigned processors);

/// Depends on every byte and their order.
std::uint64_t fingerprint_of(const void* data, std::size_t bytes);
template <class T>
std::uint64_t fingerprint_of(std::span<const T> data) {
    return fingerprint_of(data.data(), data.size_bytes());
}

/// A wrong option. The message names the option, what is wrong and what would be right.
class OptionError : public Formatted<std::invalid_argument> {
public:
    using Formatted::Formatted;
};

struct WorkloadOption {
    std::string name;
    std::string initial;               ///< the default
    std::string meaning;               ///< with unit
    std::vector<std::string> choices;  ///< permitted words; empty = a whole number from least to most
    std::uint64_t least = 0;
    std::uint64_t most = 0;

    /// "1 .. 64" or "on, off"
    std::string range() const;
};

/// An option that is a whole number; K, M, G and T after it are powers of 1024.
WorkloadOption number_option(std::string name, std::uint64_t initial, std::string meaning, std::uint64_t least,
                             std::uint64_t most);
/// An option that is one of several words, the first being the default.
WorkloadOption choice_option(std::string name, std::string meaning, std::vector<std::string> choices);

/// Values for all options of one workload.
class OptionValues {
public:
    /// Reads "key=value" texts; what is not given has its default. Throws OptionError.
    OptionValues(std::string_view workload, std::vector<WorkloadOption> options, std::span<const std::string> texts);

    std::uint64_t number(std::string_view name) const;
    std::string_view choice(std::string_view name) const;
    bool is(std::string_view name, std::string_view value) const { return choice(name) == value; }

    /// Throws OptionError: `what` is wrong with the value of `name`.
    [[noreturn]] void reject(std::string_view name, std::string_view what) const;

private:
    struct Value {
        std::string text;
        std::uint64_t number = 0;
    };
    Value checked(const WorkloadOption& option, const std::string& text) const;
    void set(const std::string& text);

    std::string workload_;
    std::vector<WorkloadOption> options_;
    std::map<std::string, Value, std::less<>> values_;
    std::vector<std::string> given_;
};

/// Whether the numbers came out right: residual <= bound.
struct KernelCheck {
    std::string meaning;  ///< what the residual is
    double residual = 0;
    double bound = 0;

    bool passed() const { return residual <= bound; }  // not for NaN
};

/// One run of a program. Between two barriers no processor reads what another one writes (or as if: a processor is
/// suspended only where it makes a reference): the order in which processors run changes nothing.
class Workload {
public:
    Workload(unsigned processors, std::vector<std::string> functions)
        : processors_(processors), functions_(std::move(functions)) {}
    virtual ~Workload() = default;

    unsigned processors() const { return processors_; }
    const std::vector<Region>& regions() const { return layout_.regions(); }
    const std::vector<std::string>& functions() const { return functions_; }

    /// The code of one processor, from beginning to end; to be called once for each. It begins in the phase
    /// "initialise".
    virtual void run(Processor& processor) = 0;

    /// To be called when all processors are through.
    virtual KernelCheck check() const = 0;

    /// Estimate of the references of all processors together, for progress.
    virtual double expected_references() const = 0;

    /// A number that depends on every bit of the numerical result, to compare runs with.
    virtual std::uint64_t fingerprint() const = 0;

protected:
    Layout& layout() { return layout_; }

private:
    unsigned processors_;
    std::vector<std::string> functions_;
    Layout layout_;
};

struct WorkloadInfo {
    std::string name;
    std::string description;  ///< one line
    std::vector<WorkloadOption> options;
};

/// All workloads, for `workload list`.
const std::vector<WorkloadInfo>& workload_list();

/// Null where there is none of this name.
const WorkloadInfo* find_workload(std::string_view name);

/// Builds a workload by name with "key=value" options. Throws OptionError.
std::unique_ptr<Workload> make_workload(std::string_view name, std::span<const std::string> options = {});

/// The name and the value of each option, also those that are not given: equal texts are equal workloads. Throws
/// OptionError.
std::string settled_options(std::string_view name, std::span<const std::string> options);

/// Throws OptionError where make_workload() would, but for want of memory.
void check_options(std::string_view name, std::span<const std::string> options);

}  // namespace cachetally
