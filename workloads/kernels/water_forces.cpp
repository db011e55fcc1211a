// SPDX-License-Identifier: BSD-3-Clause
// Forces within and between flexible water molecules.
#include "workloads/kernels/water_forces.hpp"

#include <cmath>

namespace cachetally::water {
namespace {

constexpr double bond_length = 0.9572, hydrogen_distance = 1.5139;
constexpr double bond_stiffness = 4.4e5, hydrogen_stiffness = 1.0e5;
constexpr double site_weight = 0.128012;  ///< of each hydrogen in the charge site: 0.15 angstrom from the oxygen
constexpr double coulomb = 138935.458 * 0.52 * 0.52;  ///< product of two hydrogens' charges
constexpr double sigma2 = 3.15365 * 3.15365, epsilon = 64.852;

Vector minus(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
void add_scaled(Vector& to, double factor, const Vector& vector) {
    for (unsigned d = 0; d < 3; ++d) to[d] += factor * vector[d];
}

double spring(const Molecule& molecule, unsigned a, unsigned b, double length, double stiffness, Molecule& force) {
    const Vector apart = minus(molecule[a], molecule[b]);
    const double distance = std::sqrt(dot(apart, apart)), stretch = distance - length;
    const double pull = -stiffness * stretch / distance;
    add_scaled(force[a], pull, apart);
    add_scaled(force[b], -pull, apart);
    return stiffness * stretch * stretch / 2;
}

/// A force on the charge site acts on the atoms that carry it.
void put_on_atoms(Molecule& force, double factor, const Vector& on_site) {
    for (unsigned a = 0; a < atoms; ++a)
        add_scaled(force[a], factor * (a == oxygen ? 1 - 2 * site_weight : site_weight), on_site);
}

}  // namespace

Vector charge_site(const Molecule& molecule) {
    Vector site{};
    for (unsigned a = 0; a < atoms; ++a) add_scaled(site, a == oxygen ? 1 - 2 * site_weight : site_weight, molecule[a]);
    return site;
}

double bond_forces(const Molecule& molecule, Molecule& force) {
    return spring(molecule, 0, oxygen, bond_length, bond_stiffness, force) +
           spring(molecule, 2, oxygen, bond_length, bond_stiffness, force) +
           spring(molecule, 0, 2, hydrogen_distance, hydrogen_stiffness, force);
}

/// What is to be added to the other molecule's coordinates to have its nearest image.
Vector PairForces::image(const Vector& site, const Vector& other_site) const {
    Vector shift{};
    for (unsigned d = 0; d < 3; ++d) shift[d] = box_ * std::round((site[d] - other_site[d]) / box_);
    return shift;
}

bool PairForces::in_reach(const Vector& site, const Vector& other_site) const {
    Vector apart = minus(site, other_site);
    add_scaled(apart, -1, image(site, other_site));
    return dot(apart, apart) < cutoff2_;
}

double PairForces::add(const Molecule& molecule, const Molecule& other, Molecule& force, Molecule& other_force) const {
    // sites 0 and 2: the hydrogens; 1: the charge site instead of the oxygen
    Molecule charges = molecule, other_charges = other;
    charges[oxygen] = charge_site(molecule);
    other_charges[oxygen] = charge_site(other);
    const Vector shift = image(charges[oxygen], other_charges[oxygen]);
    for (Vector& site : other_charges) add_scaled(site, 1, shift);
    const Vector apart = minus(charges[oxygen], other_charges[oxygen]);
    const double fade_root = 1 - dot(apart, apart) / cutoff2_, fade = fade_root * fade_root;

    double energy = 0;
    const auto act = [&](Molecule& on, unsigned site, bool charge, double factor, const Vector& direction) {
        if (charge && site == oxygen)
            put_on_atoms(on, factor, direction);
        else
            add_scaled(on[site], factor, direction);
    };
    for (unsigned a = 0; a < atoms; ++a)
        for (unsigned b = 0; b < atoms; ++b) {
            const Vector r = minus(charges[a], other_charges[b]);
            const double product = coulomb * (a == oxygen ? -2 : 1) * (b == oxygen ? -2 : 1);
            const double r2 = dot(r, r), term = product / std::sqrt(r2);
            energy += term;
            act(force, a, true, fade * term / r2, r);
            act(other_force, b, true, -fade * term / r2, r);
        }
    Vector r = minus(molecule[oxygen], other[oxygen]);
    add_scaled(r, -1, shift);
    const double r2 = dot(r, r), ratio = sigma2 / r2, sixth = ratio * ratio * ratio;
    energy += 4 * epsilon * sixth * (sixth - 1);
    const double push = fade * 24 * epsilon * sixth * (2 * sixth - 1) / r2;
    act(force, oxygen, false, push, r);
    act(other_force, oxygen, false, -push, r);
    const double slope = 4 * fade_root / cutoff2_ * energy;  // -d fade / d apart
    put_on_atoms(force, slope, apart);
    put_on_atoms(other_force, -slope, apart);
    return fade * energy;
}

}  // namespace cachetally::water
