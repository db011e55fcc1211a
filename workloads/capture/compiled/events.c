/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens besides references: requests of cachetally.h, barriers. */
#include <sched.h>

#include "../../../include/cachetally.h"
#include "runtime.h"

/* --- barriers --------------------------------------------------------------------------------------------------------- */

static struct {
    const void* object;
    unsigned long participants, arrived;
} barriers[256];
static uint32_t arriving; /* a lock */

/* Its place, or that of none. */
static unsigned place_of(const void* object) {
    unsigned i, place = 0;
    for (i = 0; i < 256; ++i) {
        if (barriers[i].object == object) return i;
        if (barriers[i].object == NULL) place = i;
    }
    barriers[place].object = object;
    barriers[place].participants = barriers[place].arrived = 0;
    return place;
}

static void note_participants(const void* object, unsigned long participants) {
    while (__atomic_exchange_n(&arriving, 1, __ATOMIC_SEQ_CST)) sched_yield();
    const unsigned place = place_of(object);
    barriers[place].participants = participants;
    barriers[place].arrived = 0;
    __atomic_store_n(&arriving, 0, __ATOMIC_SEQ_CST);
}

void ct_arrived(const void* barrier, unsigned long participants) {
    const uint64_t words[] = {(uint64_t)barrier, participants};
    if (!ct_captured()) return;
    ct_hand_over();
    while (__atomic_exchange_n(&arriving, 1, __ATOMIC_SEQ_CST)) sched_yield();
    const unsigned place = place_of(barrier);
    if (participants != 0) barriers[place].participants = participants;
    const unsigned long all = barriers[place].participants;
    const int is_last = ++barriers[place].arrived >= all && all != 0;
    if (is_last) barriers[place].arrived = 0;
    __atomic_store_n(&arriving, 0, __ATOMIC_SEQ_CST);
    if (!is_last) return;
    const uint64_t known[] = {words[0], all};
    ct_control(CT_BARRIER, known, 2, NULL);
    ct_hand_over();
}

/* --- cachetally.h ----------------------------------------------------------------------------------------------------- */

CT_EXPORT void cachetally_runtime_request(const unsigned long* words) {
    const uint64_t rest[] = {words[1], words[2], words[3]};
    switch (words[0]) {
        case CACHETALLY_REQUEST_PHASE: ct_control(CT_PHASE, NULL, 0, (const char*)words[1]); break;
        case CACHETALLY_REQUEST_REGION: ct_control(CT_REGION, rest, 3, (const char*)words[4]); break;
        case CACHETALLY_REQUEST_COLLECT: ct_collect(words[1] != 0); break;
        case CACHETALLY_REQUEST_BARRIER: ct_control(CT_BARRIER, rest, 2, NULL); break;
        case CACHETALLY_REQUEST_PARTICIPANTS: note_participants((const void*)words[1], words[2]); break;
        case CACHETALLY_REQUEST_ARRIVED: ct_arrived((const void*)words[1], words[2]); break;
        default: break;
    }
}
