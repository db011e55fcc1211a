/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocator: the program's own. */
#include <stddef.h>

#include "wrap.h"

/* An allocation within another (an operator new calls malloc) is reported once. */
static __thread void* latest __attribute__((tls_model("local-exec")));

static void* allocated(void* block, size_t bytes, const uint64_t* frame) {
    if (!block || !ct_captured() || block == latest) return block;
    latest = block;
    ct_control_by(CT_ALLOCATED, block, bytes, frame);
    return block;
}
/* Before one; not before a static program has memory of threads. */
static void begin_allocation(void) {
    if (ct_captured()) latest = NULL;
}
#define ALLOCATED(call, bytes) (begin_allocation(), allocated(call, bytes, CT_FRAME))

static void released(void* block) {
    const uint64_t words[] = {(uint64_t)block};
    if (block) ct_control(CT_RELEASED, words, 1, NULL);
}

REAL(void*, malloc, size_t bytes) { return ALLOCATED(__real_malloc(bytes), bytes); }
REAL(void*, calloc, size_t count, size_t bytes) {
    return ALLOCATED(__real_calloc(count, bytes), count * bytes);
}
REAL(void*, realloc, void* before, size_t bytes) {
    begin_allocation();
    void* const block = __real_realloc(before, bytes);
    if (block || bytes == 0) released(before);
    return allocated(block, bytes, CT_FRAME);
}
REAL(void*, memalign, size_t alignment, size_t bytes) {
    return ALLOCATED(__real_memalign(alignment, bytes), bytes);
}
REAL(void*, aligned_alloc, size_t alignment, size_t bytes) {
    return ALLOCATED(__real_aligned_alloc(alignment, bytes), bytes);
}
REAL(int, posix_memalign, void** place, size_t alignment, size_t bytes) {
    begin_allocation();
    const int error = __real_posix_memalign(place, alignment, bytes);
    if (error == 0) allocated(*place, bytes, CT_FRAME);
    return error;
}
REAL(void, free, void* block) {
    released(block);
    __real_free(block);
}

/* operator new and delete: (size), (size, alignment), and the same without exceptions. */
#define OPERATOR_NEW(name)                                                                          \
    MAYBE(void*, name, size_t bytes) { return ALLOCATED(__real_##name(bytes), bytes); }     \
    MAYBE(void*, name##RKSt9nothrow_t, size_t bytes, const void* nothrow) {                          \
        return ALLOCATED(__real_##name##RKSt9nothrow_t(bytes, nothrow), bytes);            \
    }                                                                                               \
    MAYBE(void*, name##St11align_val_t, size_t bytes, size_t alignment) {                            \
        return ALLOCATED(__real_##name##St11align_val_t(bytes, alignment), bytes);         \
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
