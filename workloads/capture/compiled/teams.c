/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers of pthread, and teams of OpenMP. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>

#include "../../../include/cachetally.h"
#include "wrap.h"

extern void cachetally_runtime_request(const unsigned long* words);

REAL(int, pthread_barrier_init, pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes, unsigned count) {
    const unsigned long words[] = {CACHETALLY_REQUEST_PARTICIPANTS, (unsigned long)barrier, count, 0, 0, 0};
    const int result = __real_pthread_barrier_init(barrier, attributes, count);
    if (result == 0) cachetally_runtime_request(words);
    return result;
}
REAL(int, pthread_barrier_wait, pthread_barrier_t* barrier) {
    ct_arrived(barrier, 0);
    return __real_pthread_barrier_wait(barrier);
}

/* OpenMP of gcc. */
extern int omp_get_num_threads(void) __attribute__((weak));

static void arrived_in_team(void) {
    if (omp_get_num_threads && omp_get_num_threads() > 1) ct_arrived(&arrived_in_team, (unsigned long)omp_get_num_threads());
}
MAYBE(void, GOMP_barrier, void) {
    arrived_in_team();
    __real_GOMP_barrier();
}
MAYBE(void, GOMP_loop_end, void) {
    arrived_in_team();
    __real_GOMP_loop_end();
}
MAYBE(void, GOMP_sections_end, void) {
    arrived_in_team();
    __real_GOMP_sections_end();
}

typedef struct {
    void (*function)(void*);
    void* data;
} Part;

CT_WRAPPER static void run_part(void* part) {
    ((Part*)part)->function(((Part*)part)->data);
    ct_hand_over();
}
MAYBE(void, GOMP_parallel, void (*function)(void*), void* data, unsigned threads, unsigned flags) {
    const uint64_t words[] = {(uint64_t)&arrived_in_team, threads};
    Part part = {function, data};
    ct_hand_over();
    __real_GOMP_parallel(run_part, &part, threads, flags);
    ct_control(CT_BARRIER, words, 2, NULL);
}
