// SPDX-License-Identifier: BSD-3-Clause
// BlockPath: how one core's filtered blocks are made, without regard to time.
#pragma once

#include "cachetally/filtered.hpp"

namespace cachetally {

class Background;

class BlockPath {
public:
    virtual ~BlockPath() = default;

    /// Between start() and stop() nobody else may use the hierarchy. What can be left to `background` is, if given.
    virtual void start(Background* /*background*/) {}
    virtual void stop() {}

    /// Makes the references of a block. Returns for how long the core waited, as far as that is known at once.
    virtual Tick run(const FilteredBlock& block) = 0;

    /// Finishes what run() has left undone.
    virtual void hand_over() {}

    /// For how long somebody waited in what was left undone and done since, since the last call.
    virtual Tick waited() { return 0; }
};

}  // namespace cachetally
