/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preloaded into the program: its own allocator and barriers go on, and what they did is reported. An allocation that
   is made within another (operator new calls malloc) is reported once, by the innermost that is wrapped. */
#include <stddef.h>
#include <valgrind/valgrind.h>

#include "../../../include/cachetally.h"

/* soname libc.so*, function f: 0000 is a priority, Za the letter * */
#define IN_LIBC(f) I_WRAP_SONAME_FNNAME_ZU(libcZdsoZa, f)
#define IN_PROGRAM(f) I_WRAP_SONAME_FNNAME_ZU(NONE, f)
#define IN_PTHREAD(f) I_WRAP_SONAME_FNNAME_ZU(libpthreadZdsoZa, f)
#define IN_GOMP(f) I_WRAP_SONAME_FNNAME_ZZ(libgompZdsoZa, f)

static void allocated(void* block, size_t bytes) {
    if (block) cachetally_say(CACHETALLY_REQUEST_ALLOCATED, (unsigned long)block, bytes, 0, 0);
}
static void released(void* block) {
    if (block) cachetally_say(CACHETALLY_REQUEST_RELEASED, (unsigned long)block, 0, 0, 0);
}

#define WRAP_ALLOCATOR(in)                                      \
    void* in(malloc)(size_t bytes) {                            \
        OrigFn original;                                        \
        void* block;                                            \
        VALGRIND_GET_ORIG_FN(original);                         \
        CALL_FN_W_W(block, original, bytes);                    \
        allocated(block, bytes);                                \
        return block;                                           \
    }                                                           \
    void* in(calloc)(size_t count, size_t bytes) {              \
        OrigFn original;                                        \
        void* block;                                            \
        VALGRIND_GET_ORIG_FN(original);                         \
        CALL_FN_W_WW(block, original, count, bytes);            \
        allocated(block, count * bytes);                        \
        return block;                                           \
    }                                                           \
    void* in(realloc)(void* before, size_t bytes) {             \
        OrigFn original;                                        \
        void* block;                                            \
        VALGRIND_GET_ORIG_FN(original);                         \
        CALL_FN_W_WW(block, original, before, bytes);           \
        if (block || bytes == 0) released(before);              \
        allocated(block, bytes);                                \
        return block;                                           \
    }                                                           \
    void* in(memalign)(size_t alignment, size_t bytes) {        \
        OrigFn original;                                        \
        void* block;                                            \
        VALGRIND_GET_ORIG_FN(original);                         \
        CALL_FN_W_WW(block, original, alignment, bytes);        \
        allocated(block, bytes);                                \
        return block;                                           \
    }                                                           \
    void* in(aligned_alloc)(size_t alignment, size_t bytes) {   \
        OrigFn original;                                        \
        void* block;                                            \
        VALGRIND_GET_ORIG_FN(original);                         \
        CALL_FN_W_WW(block, original, alignment, bytes);        \
        allocated(block, bytes);                                \
        return block;                                           \
    }                                                           \
    int in(posix_memalign)(void** place, size_t alignment, size_t bytes) { \
        OrigFn original;                                        \
        int error;                                              \
        VALGRIND_GET_ORIG_FN(original);                         \
        CALL_FN_W_WWW(error, original, place, alignment, bytes); \
        if (error == 0) allocated(*place, bytes);               \
        return error;                                           \
    }                                                           \
    void in(free)(void* block) {                                \
        OrigFn original;                                        \
        VALGRIND_GET_ORIG_FN(original);                         \
        released(block);                                        \
        CALL_FN_v_W(original, block);                           \
    }

WRAP_ALLOCATOR(IN_LIBC)
WRAP_ALLOCATOR(IN_PROGRAM)

/* Each arrival is reported before the wait: with the last one, all have done what comes before the barrier. */
static void arrived(const void* barrier, unsigned long participants) {
    cachetally_say(CACHETALLY_REQUEST_ARRIVED, (unsigned long)barrier, participants, 0, 0);
}

#define WRAP_BARRIER(in)                                                                       \
    int in(pthread_barrier_init)(void* barrier, const void* attributes, unsigned count) {      \
        OrigFn original;                                                                       \
        int result;                                                                            \
        VALGRIND_GET_ORIG_FN(original);                                                        \
        CALL_FN_W_WWW(result, original, barrier, attributes, count);                           \
        if (result == 0)                                                                       \
            cachetally_say(CACHETALLY_REQUEST_PARTICIPANTS, (unsigned long)barrier, count, 0, 0); \
        return result;                                                                         \
    }                                                                                          \
    int in(pthread_barrier_wait)(void* barrier) {                                              \
        OrigFn original;                                                                       \
        int result;                                                                            \
        VALGRIND_GET_ORIG_FN(original);                                                        \
        arrived(barrier, 0);                                                                   \
        CALL_FN_W_W(result, original, barrier);                                                \
        return result;                                                                         \
    }
WRAP_BARRIER(IN_LIBC)
WRAP_BARRIER(IN_PTHREAD)

/* OpenMP of gcc: the end of a parallel region, and what all threads of a team wait in. */
extern int omp_get_num_threads(void) __attribute__((weak));

#define WRAP_TEAM(function)                                                                 \
    void IN_GOMP(function)(void) {                                                          \
        OrigFn original;                                                                    \
        VALGRIND_GET_ORIG_FN(original);                                                     \
        arrived((const void*)1, omp_get_num_threads ? (unsigned long)omp_get_num_threads() : 0); \
        CALL_FN_v_v(original);                                                              \
    }
WRAP_TEAM(GOMPZubarrier)
WRAP_TEAM(GOMPZuloopZuend)
WRAP_TEAM(GOMPZusectionsZuend)

void IN_GOMP(GOMPZuparallel)(void (*function)(void*), void* data, unsigned threads, unsigned flags) {
    OrigFn original;
    VALGRIND_GET_ORIG_FN(original);
    CALL_FN_v_WWWW(original, function, data, threads, flags);
    CACHETALLY_BARRIER(1, threads);
}
