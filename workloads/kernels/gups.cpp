// SPDX-License-Identifier: BSD-3-Clause
// GUPS: random read-modify-writes of a table, with the generator of HPC Challenge RandomAccess.
#include <array>

#include "workloads/kernels/kernels.hpp"
#include "workloads/kernels/processor.hpp"

namespace cachetally {
namespace gups {
namespace {

enum Site : std::uint32_t { init = 1, update };
enum Function : std::uint32_t { f_init, f_update };

/// The next element of the sequence x^k modulo x^64 + x^2 + x + 1 over GF(2).
constexpr std::uint64_t advance(std::uint64_t value) { return (value << 1) ^ (value >> 63 != 0 ? 7 : 0); }

/// Element number `steps` of the sequence: squaring, since (sum of x^k)^2 = sum of x^2k over GF(2).
std::uint64_t element(std::uint64_t steps) {
    std::array<std::uint64_t, 64> squares{};  // x^2k
    std::uint64_t power = 1;
    for (std::uint64_t& square : squares) {
        square = power;
        power = advance(advance(power));
    }
    std::uint64_t value = 1;
    for (unsigned bit = 64; bit-- > 0;) {
        std::uint64_t squared = 0;
        for (unsigned k = 0; k < 64; ++k)
            if (value >> k & 1) squared ^= squares[k];
        value = steps >> bit & 1 ? advance(squared) : squared;
    }
    return value;
}

class Gups final : public Workload {
public:
    static void check(const OptionValues& options) {
        if (!is_power_of_two(options.number("table")))
            options.reject("table", "is not a power of two; write for instance 2M or 4M");
        const std::uint64_t updates = options.number("updates");
        if (processors_of(options) > (updates == 0 ? 4 * options.number("table") : updates))
            options.reject("processors", "is more than updates; make it at most updates");
    }

    explicit Gups(const OptionValues& options)
        : Workload(processors_of(options), {"init", "update"}),
          updates_(options.number("updates")),
          table_(layout().array<std::uint64_t>("table", options.number("table"))) {
        if (updates_ == 0) updates_ = 4 * table_.size();
    }

    void run(Processor& p) override {
        const Share words = share_of(table_.size(), p.number(), processors());
        p.enter(f_init);
        for (std::uint64_t i = words.begin; i < words.end; ++i) table_.write(p, i, i, init);
        p.leave();
        p.barrier("update");
        // Updates of one word by several processors meet, but exclusive or does not mind their order.
        const Share share = share_of(updates_, p.number(), processors());
        std::uint64_t value = element(share.begin);
        p.enter(f_update);
        for (std::uint64_t i = share.begin; i < share.end; ++i) {
            value = advance(value);
            const std::uint64_t index = value & (table_.size() - 1);
            // both references first: the processor may be suspended in either, and another one update the word
            p.load(table_.address(index), sizeof value, update);
            p.store(table_.address(index), sizeof value, update);
            table_.host()[index] ^= value;
        }
        p.leave();
        p.barrier();
    }

    /// The updates once more undo themselves.
    KernelCheck check() const override {
        std::vector<std::uint64_t> table(table_.host().begin(), table_.host().end());
        std::uint64_t value = 1;
        for (std::uint64_t i = 0; i < updates_; ++i) {
            value = advance(value);
            table[value & (table.size() - 1)] ^= value;
        }
        double wrong = 0;
        for (std::uint64_t i = 0; i < table.size(); ++i) wrong += table[i] == i ? 0 : 1;
        return {"words that differ after the updates are undone", wrong, 0};
    }

    double expected_references() const override {
        return static_cast<double>(table_.size()) + 2 * static_cast<double>(updates_);
    }

    std::uint64_t fingerprint() const override { return fingerprint_of(table_.host()); }

private:
    std::uint64_t updates_;
    Array<std::uint64_t> table_;
};

}  // namespace
}  // namespace gups

Kernel gups_kernel() {
    return {
        {"gups",
         "updates of random words of a table (HPC Challenge RandomAccess)",
         {number_option("table", 1 << 20, "words of 8 bytes, a power of two", 2, std::uint64_t{1} << 32),
          number_option("updates", 0, "updates of all processors together; 0 = 4 per word", 0, std::uint64_t{1} << 40),
          processors_option()}},
        make_program<gups::Gups>,
        gups::Gups::check};
}

}  // namespace cachetally
