/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that work on memory and texts. */
#include <stddef.h>

#include "wrap.h"

static size_t length_of(const char* text) {
    const char* end = text;
    while (*end) ++end;
    return (size_t)(end - text);
}
static size_t shorter(size_t a, size_t b) { return a < b ? a : b; }

REAL(void*, memcpy, void* to, const void* from, size_t bytes) {
    ct_store_copy(to, from, bytes, CT_SITE);
    return __real_memcpy(to, from, bytes);
}
REAL(void*, memmove, void* to, const void* from, size_t bytes) {
    ct_store_copy(to, from, bytes, CT_SITE);
    return __real_memmove(to, from, bytes);
}
REAL(void*, mempcpy, void* to, const void* from, size_t bytes) {
    ct_store_copy(to, from, bytes, CT_SITE);
    return __real_mempcpy(to, from, bytes);
}
REAL(void*, memset, void* to, int value, size_t bytes) {
    ct_store_range(to, bytes, CT_STORE, CT_SITE);
    return __real_memset(to, value, bytes);
}
REAL(void*, __memcpy_chk, void* to, const void* from, size_t bytes, size_t room) {
    ct_store_copy(to, from, bytes, CT_SITE);
    return __real___memcpy_chk(to, from, bytes, room);
}
REAL(void*, __memmove_chk, void* to, const void* from, size_t bytes, size_t room) {
    ct_store_copy(to, from, bytes, CT_SITE);
    return __real___memmove_chk(to, from, bytes, room);
}
REAL(void*, __memset_chk, void* to, int value, size_t bytes, size_t room) {
    ct_store_range(to, bytes, CT_STORE, CT_SITE);
    return __real___memset_chk(to, value, bytes, room);
}
/* How clang calls them. */
CT_EXPORT void* __tsan_memcpy(void* to, const void* from, size_t bytes) {
    ct_store_copy(to, from, bytes, CT_SITE);
    return __real_memcpy(to, from, bytes);
}
CT_EXPORT void* __tsan_memmove(void* to, const void* from, size_t bytes) {
    ct_store_copy(to, from, bytes, CT_SITE);
    return __real_memmove(to, from, bytes);
}
CT_EXPORT void* __tsan_memset(void* to, int value, size_t bytes) {
    ct_store_range(to, bytes, CT_STORE, CT_SITE);
    return __real_memset(to, value, bytes);
}

REAL(int, memcmp, const void* a, const void* b, size_t bytes) {
    if (ct_recording()) {
        const unsigned char *left = a, *right = b;
        size_t same = 0;
        while (same < bytes && left[same] == right[same]) ++same;
        ct_store_range(a, shorter(same + 1, bytes), 0, CT_SITE);
        ct_store_range(b, shorter(same + 1, bytes), 0, CT_SITE);
    }
    return __real_memcmp(a, b, bytes);
}
REAL(void*, memchr, const void* in, int value, size_t bytes) {
    const char* const found = __real_memchr(in, value, bytes);
    ct_store_range(in, found ? (size_t)(found - (const char*)in) + 1 : bytes, 0, CT_SITE);
    return (void*)found;
}
REAL(size_t, strlen, const char* text) {
    const size_t length = __real_strlen(text);
    ct_store_range(text, length + 1, 0, CT_SITE);
    return length;
}
REAL(char*, strchr, const char* text, int value) {
    char* const found = __real_strchr(text, value);
    if (ct_recording()) ct_store_range(text, found ? (size_t)(found - text) + 1 : length_of(text) + 1, 0, CT_SITE);
    return found;
}
REAL(char*, strrchr, const char* text, int value) {
    if (ct_recording()) ct_store_range(text, length_of(text) + 1, 0, CT_SITE);
    return __real_strrchr(text, value);
}
static void store_comparison(const char* a, const char* b, size_t most, uint64_t site) {
    size_t same = 0;
    if (!ct_recording()) return;
    while (same < most && a[same] == b[same] && a[same]) ++same;
    ct_store_range(a, shorter(same + 1, most), 0, site);
    ct_store_range(b, shorter(same + 1, most), 0, site);
}
REAL(int, strcmp, const char* a, const char* b) {
    store_comparison(a, b, ~(size_t)0, CT_SITE);
    return __real_strcmp(a, b);
}
REAL(int, strncmp, const char* a, const char* b, size_t most) {
    store_comparison(a, b, most, CT_SITE);
    return __real_strncmp(a, b, most);
}
REAL(char*, strcpy, char* to, const char* from) {
    if (ct_recording()) ct_store_copy(to, from, length_of(from) + 1, CT_SITE);
    return __real_strcpy(to, from);
}
REAL(char*, stpcpy, char* to, const char* from) {
    if (ct_recording()) ct_store_copy(to, from, length_of(from) + 1, CT_SITE);
    return __real_stpcpy(to, from);
}
REAL(char*, __strcpy_chk, char* to, const char* from, size_t room) {
    if (ct_recording()) ct_store_copy(to, from, length_of(from) + 1, CT_SITE);
    return __real___strcpy_chk(to, from, room);
}
REAL(char*, strncpy, char* to, const char* from, size_t most) {
    if (ct_recording()) {
        size_t length = 0;
        while (length < most && from[length]) ++length;
        length = shorter(length + 1, most);
        ct_store_copy(to, from, length, CT_SITE);
        ct_store_range(to + length, most - length, CT_STORE, CT_SITE);
    }
    return __real_strncpy(to, from, most);
}
REAL(char*, strcat, char* to, const char* from) {
    if (ct_recording()) {
        const size_t before = length_of(to);
        ct_store_range(to, before + 1, 0, CT_SITE);
        ct_store_copy(to + before, from, length_of(from) + 1, CT_SITE);
    }
    return __real_strcat(to, from);
}
