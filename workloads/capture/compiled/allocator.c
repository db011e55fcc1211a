/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocator: the program's own. */
#include <stddef.h>

#include "wrap.h"

/* An allocation within another (an operator new calls malloc) is reported once. */
static __thread void* latest __attribute__((tls_model("local-exec")));

static void* allocated(void* block, size_t bytes, uint64_t site) {
    const uint64_t words[] = {(uint64_t)block, bytes, 1, site};
    if (!block || !ct_captured() || block == latest) return block;
    latest = block;
    ct_control(CT_ALLOCATED, words, 4, NULL);
    return block;
}
static void released(void* block) {
    const uint64_t words[] = {(uint64_t)block};
    if (!block || !ct_captured()) return;
    if (block == latest) latest = NULL;
    ct_control(CT_RELEASED, words, 1, NULL);
}

REAL(void*, malloc, size_t bytes) { return allocated(__real_malloc(bytes), bytes, CT_SITE); }
REAL(void*, calloc, size_t count, size_t bytes) {
    return allocated(__real_calloc(count, bytes), count * bytes, CT_SITE);
}
REAL(void*, realloc, void* before, size_t bytes) {
    void* const block = __real_realloc(before, bytes);
    if (block || bytes == 0) released(before);
    return allocated(block, bytes, CT_SITE);
}
REAL(void*, memalign, size_t alignment, size_t bytes) {
    return allocated(__real_memalign(alignment, bytes), bytes, CT_SITE);
}
REAL(void*, aligned_alloc, size_t alignment, size_t bytes) {
    return allocated(__real_aligned_alloc(alignment, bytes), bytes, CT_SITE);
}
REAL(int, posix_memalign, void** place, size_t alignment, size_t bytes) {
    const int error = __real_posix_memalign(place, alignment, bytes);
    if (error == 0) allocated(*place, bytes, CT_SITE);
    return error;
}
REAL(void, free, void* block) {
    released(block);
    __real_free(block);
}

/* operator new and delete: (size), (size, alignment), and the same without exceptions. */
#define OPERATOR_NEW(name)                                                                          \
    MAYBE(void*, name, size_t bytes) { return allocated(__real_##name(bytes), bytes, CT_SITE); }     \
    MAYBE(void*, name##RKSt9nothrow_t, size_t bytes, const void* nothrow) {                          \
        return allocated(__real_##name##RKSt9nothrow_t(bytes, nothrow), bytes, CT_SITE);            \
    }                                                                                               \
    MAYBE(void*, name##St11align_val_t, size_t bytes, size_t alignment) {                            \
        return allocated(__real_##name##St11align_val_t(bytes, alignment), bytes, CT_SITE);         \
    }
OPERATOR_NEW(_Znwm)
OPERATOR_NEW(_Znam)

#define OPERATOR_DELETE(name)                                       \
    MAYBE(void, name, void* block) {                                 \
        released(block);                                            \
        __real_##name(block);                                       \
    }                                                               \
    MAYBE(void, name##m, void* block, size_t bytes) {                \
        released(block);                                            \
        __real_##name##m(block, bytes);                             \
    }                                                               \
    MAYBE(void, name##St11align_val_t, void* block, size_t alignment) { \
        released(block);                                            \
        __real_##name##St11align_val_t(block, alignment);           \
    }                                                               \
    MAYBE(void, name##mSt11align_val_t, void* block, size_t bytes, size_t alignment) { \
        released(block);                                            \
        __real_##name##mSt11align_val_t(block, bytes, alignment);   \
    }
OPERATOR_DELETE(_ZdlPv)
OPERATOR_DELETE(_ZdaPv)
