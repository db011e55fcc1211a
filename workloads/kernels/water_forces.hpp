// SPDX-License-Identifier: BSD-3-Clause
// Forces within and between flexible water molecules: pure functions of positions. Internal to the water kernel.
#pragma once

#include <array>

namespace cachetally::water {

// Units: angstrom, picosecond, atomic mass unit; energies in their combination (0.01 kJ/mol).

inline constexpr unsigned atoms = 3;  ///< H, O, H
inline constexpr unsigned oxygen = 1;
using Vector = std::array<double, 3>;
using Molecule = std::array<Vector, atoms>;

inline constexpr std::array<double, atoms> mass = {1.008, 15.999, 1.008};

/// The massless site on the axis of a molecule that carries the negative charge (Jorgensen et al. 1983, TIP4P).
Vector charge_site(const Molecule& molecule);

/// Springs along the bonds and between the hydrogens; stiffness as in flexible models of the time, form ours.
/// Adds to `force`; returns the energy.
double bond_forces(const Molecule& molecule, Molecule& force);

/// Coulomb and Lennard-Jones forces (parameters of TIP4P) between two molecules in a periodic box, the energy faded
/// out by (1 - r^2 / cutoff^2)^2 with the distance r of the charge sites, so that it is conserved (ours).
class PairForces {
public:
    PairForces(double box, double cutoff) : box_(box), cutoff2_(cutoff * cutoff) {}

    /// Whether molecules with these charge sites act on each other.
    bool in_reach(const Vector& site, const Vector& other_site) const;

    /// Adds to both forces; returns the energy.
    double add(const Molecule& molecule, const Molecule& other, Molecule& force, Molecule& other_force) const;

private:
    Vector image(const Vector& site, const Vector& other_site) const;

    double box_, cutoff2_;
};

}  // namespace cachetally::water
