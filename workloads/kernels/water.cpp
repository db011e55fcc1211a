// SPDX-License-Identifier: BSD-3-Clause
// WATER: molecular dynamics of water, all pairs of molecules, in the structure of SPLASH-2 WATER-nsquared (Woo et al.
// 1995): predict, forces within and between molecules, correct, boundaries, kinetic energy.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "workloads/kernels/kernels.hpp"
#include "workloads/kernels/processor.hpp"
#include "workloads/kernels/water_forces.hpp"

namespace cachetally {
namespace water {
namespace {

using water::atoms;
using water::Molecule;
using water::oxygen;
using water::Vector;

enum Site : std::uint32_t {
    init = 1,
    predict_site,
    position,
    site_site,
    force_site,
    partial_site,
    clear,
    correct_site,
    boundary,
    velocity,
    energy
};
enum Function : std::uint32_t { f_init, f_predict, f_intra, f_inter, f_reduce, f_correct, f_boundary, f_kinetic };

/// A molecule is 84 doubles: the charge site, then 9 groups of a value per direction and atom: position and its scaled
/// derivatives of order 1 to 6 (d^k x / dt^k * dt^k / k!), the force, and a spare one. 672 bytes.
constexpr std::uint64_t site_words = 3, group_words = 9, groups = 9;
constexpr std::uint64_t molecule_words = site_words + groups * group_words;
constexpr unsigned orders = 7, force_group = 7;
static_assert(molecule_words * sizeof(double) == 672);

constexpr std::uint64_t word(std::uint64_t molecule, unsigned group, unsigned direction, unsigned atom) {
    return molecule * molecule_words + site_words + group * group_words + direction * 3 + atom;
}

constexpr double time_step = 1.5e-4;    // picoseconds, as in SPLASH-2
constexpr double spacing = 3.1036;      // angstrom: 1 g/cm^3
constexpr double thermal = 249.4;       // k T at 300 K
constexpr double longest_cutoff = 9.0;  // angstrom
/// Gear's corrector for second-order equations and seven values (Allen and Tildesley 1987, appendix E).
constexpr std::array<double, orders> gear = {863.0 / 6048, 665.0 / 1008, 1, 25.0 / 36, 35.0 / 144, 1.0 / 24, 1.0 / 360};

class Water final : public Workload {
public:
    static void check(const OptionValues& options) {
        if (processors_of(options) > options.number("molecules"))
            options.reject("processors", "is more than molecules; make it at most molecules");
    }

    explicit Water(const OptionValues& options)
        : Workload(processors_of(options),
                   {"init", "predict", "intra", "inter", "reduce", "correct", "boundary", "kinetic"}),
          n_(options.number("molecules")),
          steps_(options.number("steps")),
          side_(cube_side(n_)),
          box_(static_cast<double>(side_) * spacing),
          cutoff_(std::min(box_ / 2, longest_cutoff)),
          pair_(box_, cutoff_) {
        molecules_ = layout().matrix<double>("molecules", n_, molecule_words);
        for (unsigned q = 0; q < processors(); ++q)
            partial_.push_back(layout().matrix<double>("partial" + std::to_string(q), n_, group_words));
        sums_ = layout().matrix<double>("sums", processors(), 8);
        begin(options.number("seed"));
    }

    void run(Processor& p) override {
        const Share own = share_of(n_, p.number(), processors());
        initialise(p, own);
        forces(p, own, false);
        p.enter(f_correct);
        for (std::uint64_t m = own.begin; m < own.end; ++m) start(p, m);
        p.leave();
        for (std::uint64_t step = 0; step < steps_; ++step) {
            forces(p, own, true);
            correct(p, own);
            boundaries(p, own);
            kinetic_energy(p, own);
        }
        p.barrier();
    }

    /// Energy and momentum, from positions and velocities alone. The bound is that of the first steps, where the higher
    /// derivatives are still unknown; from then on the energy stays within 10^-5.
    KernelCheck check() const override {
        const State now = state(molecules_.host());
        const double drift = std::abs(now.energy - initial_.energy) / initial_.kinetic;
        const double momentum = std::sqrt(now.momentum2 / (2 * initial_.kinetic * initial_.mass));
        return {"change of total energy over kinetic energy, or 10^6 times momentum over its thermal scale",
                worse(drift, 1e6 * momentum), 5e-3};
    }

    double expected_references() const override {
        const auto n = static_cast<double>(n_), steps = static_cast<double>(steps_);
        // fraction of the pairs in reach, from the volume of the sphere
        const double near = 4.0 / 3 * std::numbers::pi * std::pow(cutoff_ / box_, 3);
        const double pairs = n * (n - 1) / 2 * (6 + near * 54);
        const double each = 117 + 24 + 9 * (1 + 3.0 * processors()) + 9 * 16 + 12;
        return n * 84 + (steps + 1) * (pairs + n * each);
    }

    std::uint64_t fingerprint() const override { return fingerprint_of(molecules_.host()); }

private:
    struct State {
        double kinetic = 0, energy = 0, momentum2 = 0, mass = 0;
    };

    static std::uint64_t cube_side(std::uint64_t count) {
        std::uint64_t side = 1;
        while (side * side * side < count) ++side;
        return side;
    }

    /// A cubic lattice, all molecules alike; thermal velocities without total momentum.
    void begin(std::uint64_t seed) {
        start_.assign(molecules_.size(), 0.0);
        Random random(seed);
        for (std::uint64_t m = 0; m < n_; ++m) {
            const std::array<std::uint64_t, 3> cell = {m % side_, m / side_ % side_, m / side_ / side_};
            for (unsigned d = 0; d < 3; ++d)
                for (unsigned a = 0; a < atoms; ++a) {
                    const double centre = (static_cast<double>(cell[d]) + 0.5) * spacing;
                    start_[word(m, 0, d, a)] = centre + (a == oxygen ? 0 : hydrogen(d, a));
                    start_[word(m, 1, d, a)] = time_step * std::sqrt(thermal / water::mass[a]) * normal(random);
                }
        }
        remove_momentum();
        initial_ = state(start_);
    }

    static double hydrogen(unsigned direction, unsigned atom) {
        if (direction == 0) return 0.58588;
        return direction == 1 ? (atom == 0 ? 0.75695 : -0.75695) : 0.0;
    }

    /// Nearly normal: a sum of 12 uniform numbers.
    static double normal(Random& random) {
        double sum = -6;
        for (int i = 0; i < 12; ++i) sum += uniform(random);
        return sum;
    }

    void remove_momentum() {
        const double total = static_cast<double>(n_) * (water::mass[0] + water::mass[1] + water::mass[2]);
        for (unsigned d = 0; d < 3; ++d) {
            double momentum = 0;
            for (std::uint64_t m = 0; m < n_; ++m)
                for (unsigned a = 0; a < atoms; ++a) momentum += water::mass[a] * start_[word(m, 1, d, a)];
            for (std::uint64_t m = 0; m < n_; ++m)
                for (unsigned a = 0; a < atoms; ++a) start_[word(m, 1, d, a)] -= momentum / total;
        }
    }

    State state(std::span<const double> values) const {
        State result;
        Vector momentum{};
        Molecule unused{};
        for (std::uint64_t m = 0; m < n_; ++m) {
            const Molecule at = positions(values, m);
            result.energy += water::bond_forces(at, unused);
            for (unsigned d = 0; d < 3; ++d)
                for (unsigned a = 0; a < atoms; ++a) {
                    const double v = values[word(m, 1, d, a)] / time_step;
                    result.kinetic += water::mass[a] * v * v / 2;
                    momentum[d] += water::mass[a] * v;
                }
            for (const double part : water::mass) result.mass += part;
            for (std::uint64_t other = m + 1; other < n_; ++other) {
                const Molecule there = positions(values, other);
                if (pair_.in_reach(water::charge_site(at), water::charge_site(there)))
                    result.energy += pair_.add(at, there, unused, unused);
            }
        }
        result.energy += result.kinetic;
        for (const double part : momentum) result.momentum2 += part * part;
        return result;
    }

    static Molecule positions(std::span<const double> values, std::uint64_t m) {
        Molecule result;
        for (unsigned d = 0; d < 3; ++d)
            for (unsigned a = 0; a < atoms; ++a) result[a][d] = values[word(m, 0, d, a)];
        return result;
    }

    void initialise(Processor& p, Share own) {
        p.enter(f_init);
        for (std::uint64_t i = own.begin * molecule_words; i < own.end * molecule_words; ++i)
            molecules_.write(p, i, start_[i], init);
        p.leave();
    }

    /// Forces at the positions, which are predicted first but for the very first time.
    void forces(Processor& p, Share own, bool predicted) {
        p.barrier(predicted ? "predict, intra-molecular forces" : "intra-molecular forces");
        if (predicted) predict(p, own);
        intra(p, own);
        p.barrier("inter-molecular forces");
        inter(p, own);
        p.barrier(predicted ? "reduce forces, correct" : "reduce forces, start");
        reduce(p, own);
    }

    /// Taylor series, order by order (Pascal's triangle).
    void predict(Processor& p, Share own) {
        p.enter(f_predict);
        for (std::uint64_t m = own.begin; m < own.end; ++m)
            for (unsigned d = 0; d < 3; ++d)
                for (unsigned a = 0; a < atoms; ++a) {
                    std::array<double, orders> x;
                    for (unsigned k = 0; k < orders; ++k) x[k] = molecules_.read(p, word(m, k, d, a), predict_site);
                    for (unsigned low = 0; low + 1 < orders; ++low)
                        for (unsigned k = orders - 1; k-- > low;) x[k] += x[k + 1];
                    for (unsigned k = 0; k + 1 < orders; ++k) molecules_.write(p, word(m, k, d, a), x[k], predict_site);
                }
        p.leave();
    }

    Molecule read_atoms(Processor& p, std::uint64_t m) const {
        Molecule result;
        for (unsigned d = 0; d < 3; ++d)
            for (unsigned a = 0; a < atoms; ++a) result[a][d] = molecules_.read(p, word(m, 0, d, a), position);
        return result;
    }

    Vector read_site(Processor& p, std::uint64_t m) const {
        Vector site;
        for (unsigned d = 0; d < 3; ++d) site[d] = molecules_.read(p, m * molecule_words + d, site_site);
        return site;
    }

    /// Forces within molecules, and where the charge sites are.
    void intra(Processor& p, Share own) {
        p.enter(f_intra);
        for (std::uint64_t m = own.begin; m < own.end; ++m) {
            const Molecule at = read_atoms(p, m);
            const Vector site = water::charge_site(at);
            for (unsigned d = 0; d < 3; ++d) molecules_.write(p, m * molecule_words + d, site[d], site_site);
            Molecule force{};
            water::bond_forces(at, force);
            for (unsigned d = 0; d < 3; ++d)
                for (unsigned a = 0; a < atoms; ++a)
                    molecules_.write(p, word(m, force_group, d, a), force[a][d], force_site);
        }
        Array<double>& partial = partial_[p.number()];
        for (std::uint64_t i = 0; i < partial.size(); ++i) partial.write(p, i, 0.0, clear);
        p.leave();
    }

    /// Each molecule with the next half of all, around the end; sums are private to the processor.
    void inter(Processor& p, Share own) {
        p.enter(f_inter);
        for (std::uint64_t m = own.begin; m < own.end; ++m) {
            const std::uint64_t last = n_ % 2 == 1 ? n_ / 2 : m < n_ / 2 ? n_ / 2 : n_ / 2 - 1;
            for (std::uint64_t step = 1; step <= last; ++step) interact(p, m, (m + step) % n_);
        }
        p.leave();
    }

    void interact(Processor& p, std::uint64_t m, std::uint64_t other) {
        const Vector site = read_site(p, m);
        if (!pair_.in_reach(site, read_site(p, other))) return;
        const Molecule at = read_atoms(p, m);
        Molecule force{}, other_force{};
        pair_.add(at, read_atoms(p, other), force, other_force);
        add_partial(p, m, force);
        add_partial(p, other, other_force);
    }

    void add_partial(Processor& p, std::uint64_t m, const Molecule& force) {
        Array<double>& partial = partial_[p.number()];
        for (unsigned d = 0; d < 3; ++d)
            for (unsigned a = 0; a < atoms; ++a) {
                const std::uint64_t i = m * group_words + d * 3 + a;
                partial.write(p, i, partial.read(p, i, partial_site) + force[a][d], partial_site);
            }
    }

    /// Adds the private sums of all processors, in their order: no locks, and always the same rounding.
    void reduce(Processor& p, Share own) {
        p.enter(f_reduce);
        for (std::uint64_t m = own.begin; m < own.end; ++m)
            for (std::uint64_t i = 0; i < group_words; ++i) {
                const std::uint64_t at = word(m, force_group, 0, 0) + i;
                double sum = molecules_.read(p, at, force_site);
                for (const Array<double>& partial : partial_) sum += partial.read(p, m * group_words + i, partial_site);
                molecules_.write(p, at, sum, force_site);
            }
        p.leave();
    }

    double scaled_acceleration(Processor& p, std::uint64_t m, unsigned d, unsigned a) const {
        return molecules_.read(p, word(m, force_group, d, a), correct_site) * time_step * time_step / 2 /
               water::mass[a];
    }

    void start(Processor& p, std::uint64_t m) {
        for (unsigned d = 0; d < 3; ++d)
            for (unsigned a = 0; a < atoms; ++a)
                molecules_.write(p, word(m, 2, d, a), scaled_acceleration(p, m, d, a), correct_site);
    }

    void correct(Processor& p, Share own) {
        p.enter(f_correct);
        for (std::uint64_t m = own.begin; m < own.end; ++m)
            for (unsigned d = 0; d < 3; ++d)
                for (unsigned a = 0; a < atoms; ++a) {
                    const double wanted = scaled_acceleration(p, m, d, a);
                    const double miss = wanted - molecules_.read(p, word(m, 2, d, a), correct_site);
                    for (unsigned k = 0; k < orders; ++k) {
                        const std::uint64_t at = word(m, k, d, a);
                        molecules_.write(p, at, molecules_.read(p, at, correct_site) + gear[k] * miss, correct_site);
                    }
                }
        p.leave();
    }

    /// A molecule whose oxygen has left the box comes in again on the other side.
    void boundaries(Processor& p, Share own) {
        p.enter(f_boundary);
        for (std::uint64_t m = own.begin; m < own.end; ++m)
            for (unsigned d = 0; d < 3; ++d) {
                const double x = molecules_.read(p, word(m, 0, d, oxygen), boundary);
                const double shift = x > box_ ? -box_ : x < 0 ? box_ : 0;
                for (unsigned a = 0; shift != 0 && a < atoms; ++a) {
                    const std::uint64_t at = word(m, 0, d, a);
                    molecules_.write(p, at, molecules_.read(p, at, boundary) + shift, boundary);
                }
            }
        p.leave();
    }

    void kinetic_energy(Processor& p, Share own) {
        p.enter(f_kinetic);
        double sum = 0;
        for (std::uint64_t m = own.begin; m < own.end; ++m)
            for (unsigned d = 0; d < 3; ++d)
                for (unsigned a = 0; a < atoms; ++a) {
                    const double v = molecules_.read(p, word(m, 1, d, a), velocity) / time_step;
                    sum += water::mass[a] * v * v / 2;
                }
        sums_.write(p, 8 * std::uint64_t{p.number()}, sum, energy);  // a line each
        p.leave();
    }

    std::uint64_t n_, steps_, side_;
    double box_, cutoff_;
    water::PairForces pair_;
    Array<double> molecules_, sums_;
    std::vector<Array<double>> partial_;
    std::vector<double> start_;
    State initial_;
};

}  // namespace
}  // namespace water

Kernel water_kernel() {
    return {{"water",
             "molecular dynamics of water, all pairs of molecules (SPLASH-2 WATER-nsquared)",
             {number_option("molecules", 64, "molecules of 672 bytes", 1, 1 << 16),
              number_option("steps", 3, "time steps of 0.15 femtoseconds", 1, 1 << 30),
              number_option("seed", 1, "of the velocities", 0, UINT64_MAX), processors_option()}},
            make_program<water::Water>,
            water::Water::check};
}

}  // namespace cachetally
