/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of the C library's function, for other libraries, too (libstdc++, libgomp): a thread's number is that of its
   creation. Only in programs that are linked dynamically; in others a thread begins with its first reference. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

#include "runtime.h"

/* Not reported (allocator.c). */
extern void* __real_malloc(size_t);
extern void __real_free(void*);

typedef struct {
    void* (*function)(void*);
    void* data;
    unsigned number;
} Start;

CT_WRAPPER static void* run(void* start) {
    const Start copy = *(Start*)start;
    __real_free(start);
    ct_begin_thread(copy.number, CT_FRAME);
    return copy.function(copy.data);
}

CT_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* data) {
    static int (*real)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    Start* start;
    if (!real) *(void**)&real = dlsym(RTLD_NEXT, "pthread_create");
    start = ct_captured() ? __real_malloc(sizeof *start) : NULL;
    if (!start) return real(thread, attributes, function, data);
    *start = (Start){function, data, ct_new_thread()};
    const uint64_t words[] = {0, start->number};
    ct_control(CT_THREAD_CREATED, words, 2, NULL);
    ct_hand_over();
    const int error = real(thread, attributes, run, start);
    if (error != 0) __real_free(start);
    return error;
}
