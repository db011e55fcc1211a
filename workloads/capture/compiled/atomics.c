/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic operations, which -fsanitize=thread leaves to its runtime. Each is as strong as any order asks for. */
#include "runtime.h"

__extension__ typedef __int128 ct_int128;
typedef int8_t ct_int8;
typedef int16_t ct_int16;
typedef int32_t ct_int32;
typedef int64_t ct_int64;

#define LOADS(p) ct_store(CT_WORD(p, sizeof *p, CT_ATOMIC), CT_SITE)
#define STORES(p) ct_store(CT_WORD(p, sizeof *p, CT_STORE | CT_ATOMIC), CT_SITE)
#define CHANGES(p) (LOADS(p), STORES(p)) /* as the valgrind tool has it, whether a comparison succeeds or not */

#define COMPARE_EXCHANGE(bits)                                                                                  \
    CT_EXPORT int __tsan_atomic##bits##_compare_exchange_strong(volatile ct_int##bits* p, ct_int##bits* expected, \
                                                                ct_int##bits value, int order, int failed) {    \
        const ct_int##bits before = *expected, found = __sync_val_compare_and_swap(p, before, value);           \
        (void)order, (void)failed;                                                                              \
        CHANGES(p);                                                                                             \
        if (found != before) *expected = found;                                                                 \
        return found == before;                                                                                 \
    }                                                                                                           \
    CT_EXPORT int __tsan_atomic##bits##_compare_exchange_weak(volatile ct_int##bits* p, ct_int##bits* expected, \
                                                              ct_int##bits value, int order, int failed) {      \
        const ct_int##bits before = *expected, found = __sync_val_compare_and_swap(p, before, value);           \
        (void)order, (void)failed;                                                                              \
        CHANGES(p);                                                                                             \
        if (found != before) *expected = found;                                                                 \
        return found == before;                                                                                 \
    }                                                                                                           \
    CT_EXPORT ct_int##bits __tsan_atomic##bits##_compare_exchange_val(volatile ct_int##bits* p,                 \
                                                                      ct_int##bits expected, ct_int##bits value, \
                                                                      int order, int failed) {                  \
        (void)order, (void)failed;                                                                              \
        CHANGES(p);                                                                                             \
        return __sync_val_compare_and_swap(p, expected, value);                                                 \
    }

#define CHANGE(bits, name, operation)                                                                       \
    CT_EXPORT ct_int##bits __tsan_atomic##bits##_##name(volatile ct_int##bits* p, ct_int##bits value, int order) { \
        (void)order;                                                                                        \
        CHANGES(p);                                                                                         \
        return operation;                                                                                   \
    }

#define ATOMICS(bits)                                                                                       \
    CT_EXPORT ct_int##bits __tsan_atomic##bits##_load(const volatile ct_int##bits* p, int order) {          \
        (void)order;                                                                                        \
        LOADS(p);                                                                                           \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                        \
    }                                                                                                       \
    CT_EXPORT void __tsan_atomic##bits##_store(volatile ct_int##bits* p, ct_int##bits value, int order) {   \
        STORES(p);                                                                                          \
        if ((order & 7) == __ATOMIC_SEQ_CST) {                                                           \
            __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                                   \
        } else {                                                                                            \
            __atomic_store_n(p, value, __ATOMIC_RELEASE);                                                   \
        }                                                                                                   \
    }                                                                                                       \
    CHANGE(bits, exchange, __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST))                                 \
    CHANGE(bits, fetch_add, __atomic_fetch_add(p, value, __ATOMIC_SEQ_CST))                                 \
    CHANGE(bits, fetch_sub, __atomic_fetch_sub(p, value, __ATOMIC_SEQ_CST))                                 \
    CHANGE(bits, fetch_and, __atomic_fetch_and(p, value, __ATOMIC_SEQ_CST))                                 \
    CHANGE(bits, fetch_or, __atomic_fetch_or(p, value, __ATOMIC_SEQ_CST))                                   \
    CHANGE(bits, fetch_xor, __atomic_fetch_xor(p, value, __ATOMIC_SEQ_CST))                                 \
    CHANGE(bits, fetch_nand, __atomic_fetch_nand(p, value, __ATOMIC_SEQ_CST))                               \
    COMPARE_EXCHANGE(bits)

ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

/* Of 16 bytes: by compare-and-swap alone, as processors have nothing else for all of them. */
#if defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16)
static ct_int128 load_128(const volatile ct_int128* p) {
    return __sync_val_compare_and_swap((volatile ct_int128*)p, 0, 0);
}

#define CHANGE_128(name, operation)                                                                          \
    CT_EXPORT ct_int128 __tsan_atomic128_##name(volatile ct_int128* p, ct_int128 value, int order) {         \
        ct_int128 before = load_128(p);                                                                      \
        (void)order;                                                                                         \
        CHANGES(p);                                                                                          \
        while (1) {                                                                                          \
            const ct_int128 found = __sync_val_compare_and_swap(p, before, operation);                       \
            if (found == before) return before;                                                              \
            before = found;                                                                                  \
        }                                                                                                    \
    }

CT_EXPORT ct_int128 __tsan_atomic128_load(const volatile ct_int128* p, int order) {
    (void)order;
    LOADS(p);
    return load_128(p);
}
CHANGE_128(exchange, value)
CHANGE_128(fetch_add, before + value)
CHANGE_128(fetch_sub, before - value)
CHANGE_128(fetch_and, before & value)
CHANGE_128(fetch_or, before | value)
CHANGE_128(fetch_xor, before ^ value)
CHANGE_128(fetch_nand, ~(before & value))
COMPARE_EXCHANGE(128)

CT_EXPORT void __tsan_atomic128_store(volatile ct_int128* p, ct_int128 value, int order) {
    ct_int128 before = load_128(p), found;
    (void)order;
    STORES(p);
    while ((found = __sync_val_compare_and_swap(p, before, value)) != before) before = found;
}
#endif

CT_EXPORT void __tsan_atomic_thread_fence(int order) {
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
CT_EXPORT void __tsan_atomic_signal_fence(int order) {
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
