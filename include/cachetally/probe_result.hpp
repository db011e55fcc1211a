// SPDX-License-Identifier: BSD-3-Clause
// What probes find: answers with intervals and methods, or why there is none; curves; costs.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "cachetally/probe_target.hpp"

namespace cachetally {

/// A number, or a word (e.g. the name of a policy).
struct Value {
    double number = 0;
    std::string word;  ///< not empty: the value is this word

    friend bool operator==(const Value&, const Value&) = default;
};

enum class Verdict : std::uint8_t { right, wrong, not_identifiable, unknown };  ///< unknown: there is no truth for it
std::string name_of(Verdict verdict);

/// One answer.
struct Finding {
    std::string test = {};       ///< e.g. "l1"
    std::string variant = {};    ///< "published" or "robust"
    std::string level = {};      ///< "L1", "L2", ..., "memory", "TLB1", ...; empty for the machine
    std::string parameter = {};  ///< "capacity", "ways", "line", "latency", "levels", "entries", ...
    std::optional<Value> value = {};
    double low = 0, high = 0;  ///< the interval that holds it
    std::string unit = {};     ///< "bytes", "cycles", "bytes per cycle", "loads", "ways", "entries", "levels"; of words
                               ///< "boolean" or "name"
    std::string method = {};
    std::string reason = {};  ///< without a value: why it is not identifiable here
    std::optional<Value> truth = {};
    double truth_high = 0;  ///< where more than one number is true: the largest
    Verdict verdict = Verdict::unknown;
};

/// Measured points of a response curve, or (unit "loads") how many single loads took so many cycles.
struct Curve {
    std::string test = {}, variant = {}, name = {};
    std::string x_name = {}, x_unit = {};
    std::vector<double> x = {}, cycles = {};     ///< the values, in `unit`
    std::vector<std::uint32_t> trials = {};      ///< by point; empty = one each
    std::vector<std::uint8_t> knocked_out = {};  ///< by point, at the end; empty = not done
    std::string unit = "cycles";  ///< of the values: "cycles" and "misses" are per load; "loads", "bytes per cycle"
    std::vector<double> low = {}, high = {};  ///< by point, how far values spread; empty = not known
};

/// What was measured from each processor (row) to each (column); NaN where nothing was.
struct ProcessorMatrix {
    std::string test = {}, variant = {}, name = {};
    std::string unit = "cycles";                           ///< per load
    std::vector<unsigned> processors = {};                 ///< as the system numbers them: of rows, and of columns
    std::vector<double> median = {}, low = {}, high = {};  ///< row by row; half of the values lie from low to high
};

/// All that a test has to say.
struct TestReport {
    std::string test, variant;  ///< given by run_suite()
    std::vector<Finding> findings;
    std::vector<Curve> curves;
    std::vector<ProcessorMatrix> matrices;
    std::vector<std::string> decisions;  ///< in the order in which they were taken
    ProbeCost cost;
    ProbeCost saved;  ///< what leaving out sizes and confirmations saved against the exhaustive test
    double host_seconds = 0;

    /// Of whole numbers the interval is that of the whole numbers in it.
    void answer(std::string level, std::string parameter, double value, double low, double high, std::string unit,
                std::string method);
    /// Of a whole number that is known exactly.
    void answer(std::string level, std::string parameter, std::uint64_t number, std::string unit, std::string method);
    void answer(std::string level, std::string parameter, std::string word, std::string method);
    void refuse(std::string level, std::string parameter, std::string reason);
    template <class First, class... Rest>
    void refuse(std::string level, std::string parameter, fmt::format_string<First, Rest...> reason, First&& first,
                Rest&&... rest) {
        refuse(std::move(level), std::move(parameter),
               fmt::format(reason, std::forward<First>(first), std::forward<Rest>(rest)...));
    }
    /// Several parameters for the same reason.
    void refuse(const std::string& level, std::initializer_list<const char*> parameters, const std::string& reason);
    /// The finding for a level's parameter; null where there is none, or no value.
    const Finding* find(const std::string& level, const std::string& parameter) const;
};

/// The report with these refusals at its end, for tests that end there.
TestReport refused(TestReport report, const std::string& level, std::initializer_list<const char*> parameters,
                   const std::string& reason);

}  // namespace cachetally
