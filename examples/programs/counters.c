/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads count how often each rest occurs, each in a counter of its own. -DFIXED: each counter has a line of its own.
   docs/programs-walks.md. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef FIXED
#define ALIGNED _Alignas(64)
#else
#define ALIGNED
#endif

enum { threads = 2 };

static _Alignas(64) struct counter {
    ALIGNED atomic_long hits;
    long numbers;
} counters[threads];

static pthread_barrier_t all_begin;

static void* count(void* argument) {
    struct counter* const own = argument;
    unsigned long number = 1;
    pthread_barrier_wait(&all_begin);
    for (long i = 0; i < own->numbers; ++i) {
        number = number * 6364136223846793005UL + 1442695040888963407UL;
        if (number >> 63) atomic_fetch_add_explicit(&own->hits, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(int words, char** word) {
    pthread_t thread[threads];
    long sum = 0;
    pthread_barrier_init(&all_begin, NULL, threads);
    for (int i = 0; i < threads; ++i) {
        counters[i].numbers = words > 1 ? atol(word[1]) : 200000;
        pthread_create(&thread[i], NULL, count, &counters[i]);
    }
    for (int i = 0; i < threads; ++i) {
        pthread_join(thread[i], NULL);
        sum += counters[i].hits;
    }
    printf("%ld\n", sum);
    return 0;
}
