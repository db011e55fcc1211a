// SPDX-License-Identifier: BSD-3-Clause
// The eviction policies: a row here and a file beside this one are all that a policy needs (CONTRIBUTING.md).
#pragma once

#include "monitor/eviction/clear_all.hpp"
#include "monitor/eviction/clock.hpp"
#include "monitor/eviction/fifo.hpp"
#include "monitor/eviction/lfu.hpp"
#include "monitor/eviction/lru.hpp"
#include "monitor/eviction/random.hpp"

// The name in specifications, and the class. Enumerators follow this order.
#define CACHETALLY_EVICTIONS(ROW) \
    ROW(fifo, FifoOrder)          \
    ROW(lru, LruOrder)            \
    ROW(random, RandomOrder)      \
    ROW(clock, ClockOrder)        \
    ROW(lfu, LfuOrder)            \
    ROW(clear_all, ClearOrder)
