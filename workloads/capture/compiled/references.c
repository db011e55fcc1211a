/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that the compiler calls before each access (gcc 12, clang 14; more are harmless). */
#include "runtime.h"

#define REFERENCES(suffix, bytes)                                                                          \
    CT_EXPORT void __tsan_read##suffix(void* p) { ct_store(CT_WORD(p, bytes, 0), CT_SITE); }               \
    CT_EXPORT void __tsan_write##suffix(void* p) { ct_store(CT_WORD(p, bytes, CT_STORE), CT_SITE); }       \
    CT_EXPORT void __tsan_read_write##suffix(void* p) {                                                    \
        ct_store(CT_WORD(p, bytes, 0), CT_SITE);                                                           \
        ct_store(CT_WORD(p, bytes, CT_STORE), CT_SITE);                                                    \
    }

#define ALL_REFERENCES(bytes)                                                                              \
    REFERENCES(bytes, bytes)                                                                               \
    CT_EXPORT void __tsan_unaligned_read##bytes(void* p) { ct_store(CT_WORD(p, bytes, 0), CT_SITE); }      \
    CT_EXPORT void __tsan_unaligned_write##bytes(void* p) { ct_store(CT_WORD(p, bytes, CT_STORE), CT_SITE); } \
    CT_EXPORT void __tsan_unaligned_read_write##bytes(void* p) {                                           \
        ct_store(CT_WORD(p, bytes, 0), CT_SITE);                                                           \
        ct_store(CT_WORD(p, bytes, CT_STORE), CT_SITE);                                                    \
    }                                                                                                      \
    CT_EXPORT void __tsan_volatile_read##bytes(void* p) { ct_store(CT_WORD(p, bytes, 0), CT_SITE); }       \
    CT_EXPORT void __tsan_volatile_write##bytes(void* p) { ct_store(CT_WORD(p, bytes, CT_STORE), CT_SITE); } \
    CT_EXPORT void __tsan_unaligned_volatile_read##bytes(void* p) { ct_store(CT_WORD(p, bytes, 0), CT_SITE); } \
    CT_EXPORT void __tsan_unaligned_volatile_write##bytes(void* p) {                                       \
        ct_store(CT_WORD(p, bytes, CT_STORE), CT_SITE);                                                    \
    }

ALL_REFERENCES(1)
ALL_REFERENCES(2)
ALL_REFERENCES(4)
ALL_REFERENCES(8)
ALL_REFERENCES(16)

/* The pointer to a table of virtual functions. */
CT_EXPORT void __tsan_vptr_read(void** p) { ct_store(CT_WORD(p, sizeof *p, 0), CT_SITE); }
CT_EXPORT void __tsan_vptr_update(void** p, void* value) {
    (void)value;
    ct_store(CT_WORD(p, sizeof *p, CT_STORE), CT_SITE);
}

CT_EXPORT void __tsan_read_range(void* p, unsigned long bytes) { ct_store_range(p, bytes, 0, CT_SITE); }
CT_EXPORT void __tsan_write_range(void* p, unsigned long bytes) { ct_store_range(p, bytes, CT_STORE, CT_SITE); }

enum { WIDEST = 32 };

void ct_store_range(const void* address, size_t bytes, uint64_t kind, uint64_t site) {
    uintptr_t at = (uintptr_t)address;
    if (!ct_recording()) return; /* a static program's libc copies before threads have memory of their own */
    for (; bytes > WIDEST; bytes -= WIDEST, at += WIDEST) ct_store(CT_WORD(at, WIDEST, kind), site);
    if (bytes != 0) ct_store(CT_WORD(at, bytes, kind), site);
}

void ct_store_copy(const void* to, const void* from, size_t bytes, uint64_t site) {
    uintptr_t load = (uintptr_t)from, store = (uintptr_t)to;
    if (!ct_recording()) return;
    for (; bytes != 0; load += WIDEST, store += WIDEST) {
        const size_t part = bytes < WIDEST ? bytes : WIDEST;
        ct_store(CT_WORD(load, part, 0), site);
        ct_store(CT_WORD(store, part, CT_STORE), site);
        bytes -= part;
    }
}

CT_EXPORT void __tsan_init(void) {}
CT_EXPORT void __tsan_ignore_thread_begin(void) {}
CT_EXPORT void __tsan_ignore_thread_end(void) {}
CT_EXPORT void __tsan_acquire(void* p) { (void)p; }
CT_EXPORT void __tsan_release(void* p) { (void)p; }

/* Only of programs compiled with CACHETALLY_FUNCTIONS. The site lies in the function that is entered. */
static __thread struct {
    uint64_t entered[256];
    unsigned depth;
} functions __attribute__((tls_model("local-exec")));

CT_EXPORT void __tsan_func_entry(void* caller) {
    const uint64_t site = CT_SITE;
    (void)caller;
    if (!ct_captured()) return;
    if (functions.depth++ >= 256) return;
    functions.entered[functions.depth - 1] = site;
    ct_control(CT_FUNCTION_ENTERED, &site, 1, NULL);
}
CT_EXPORT void __tsan_func_exit(void) {
    if (!ct_captured() || functions.depth == 0 || --functions.depth >= 256) return;
    ct_control(CT_FUNCTION_LEFT, &functions.entered[functions.depth], 1, NULL);
}
