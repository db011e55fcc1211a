/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of other libraries that the program calls: they do their work, and what they did is reported. The linker
   makes __wrap_F of each call of F, and __real_F is F (ld --wrap; wrap.options lists them). */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "runtime.h"

#define REAL(result, name, ...)              \
    extern result __real_##name(__VA_ARGS__); \
    CT_EXPORT result __wrap_##name(__VA_ARGS__)
/* Of a library that not every program is linked with. */
#define MAYBE(result, name, ...)                                    \
    extern result __real_##name(__VA_ARGS__) __attribute__((weak)); \
    CT_EXPORT result __wrap_##name(__VA_ARGS__)

/* --- memory and strings ------------------------------------------------------------------------------------------------- */

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

/* --- the allocator: the program's own ------------------------------------------------------------------------------------- */

/* An allocation within another (an operator new calls malloc) is reported once. */
static __thread void* latest __attribute__((tls_model("local-exec")));

static void* allocated(void* block, size_t bytes, uint64_t site) {
    const uint64_t words[] = {(uint64_t)block, bytes, 1, site};
    if (!block || !ct_recording() || block == latest) return block;
    latest = block;
    ct_control(CT_ALLOCATED, words, 4, NULL);
    return block;
}
static void released(void* block) {
    const uint64_t words[] = {(uint64_t)block};
    if (!block || !ct_recording()) return;
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

/* --- barriers and teams --------------------------------------------------------------------------------------------------- */

extern void cachetally_runtime_request(const unsigned long* words);

REAL(int, pthread_barrier_init, pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes, unsigned count) {
    const unsigned long words[] = {0x43540006, (unsigned long)barrier, count, 0, 0, 0};
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

static void run_part(void* part) {
    ((Part*)part)->function(((Part*)part)->data);
    ct_hand_over();
}
MAYBE(void, GOMP_parallel, void (*function)(void*), void* data, unsigned threads, unsigned flags) {
    const uint64_t words[] = {(uint64_t)&arrived_in_team, threads};
    Part part = {function, data};
    ct_hand_over();
    __real_GOMP_parallel(run_part, &part, threads, flags);
    if (ct_recording()) ct_control(CT_BARRIER, words, 2, NULL);
}

/* --- ends ------------------------------------------------------------------------------------------------------------------ */

#define END(name)                                                              \
    extern void __real_##name(int) __attribute__((noreturn));                 \
    CT_EXPORT __attribute__((noreturn)) void __wrap_##name(int status) {       \
        ct_end_process(status);                                                \
        __real_##name(status);                                                 \
    }
END(_exit)
END(_Exit)

static void executes(const char* path) {
    ct_control(CT_EXECUTED, NULL, 0, path);
    ct_hand_over();
}
static int is_not_executed(int result) {
    ct_control(CT_EXECUTED, NULL, 0, "");
    return result;
}
REAL(int, execve, const char* path, char* const* arguments, char* const* environment) {
    executes(path);
    return is_not_executed(__real_execve(path, arguments, environment));
}
REAL(int, execv, const char* path, char* const* arguments) {
    executes(path);
    return is_not_executed(__real_execv(path, arguments));
}
REAL(int, execvp, const char* path, char* const* arguments) {
    executes(path);
    return is_not_executed(__real_execvp(path, arguments));
}
REAL(int, execvpe, const char* path, char* const* arguments, char* const* environment) {
    executes(path);
    return is_not_executed(__real_execvpe(path, arguments, environment));
}
/* With the arguments in a list, and perhaps an environment behind its end. */
#define EXECUTE_LIST(name, environment_follows, call)                                                  \
    CT_EXPORT int __wrap_##name(const char* path, const char* first, ...) {                            \
        va_list list;                                                                                   \
        size_t count = 1;                                                                               \
        va_start(list, first);                                                                          \
        for (const char* one = first; one; one = va_arg(list, const char*)) ++count;                    \
        va_end(list);                                                                                   \
        char* arguments[count];                                                                         \
        char** environment = environ;                                                                   \
        va_start(list, first);                                                                          \
        arguments[0] = (char*)first;                                                                    \
        for (size_t i = 1; i < count; ++i) arguments[i] = va_arg(list, char*);                          \
        if (environment_follows) environment = va_arg(list, char**);                                    \
        va_end(list);                                                                                   \
        return call(path, arguments, environment);                                                      \
    }
EXECUTE_LIST(execl, 0, __wrap_execve)
EXECUTE_LIST(execle, 1, __wrap_execve)
EXECUTE_LIST(execlp, 0, __wrap_execvpe)

MAYBE(void*, dlopen, const char* path, int flags) {
    void* const library = __real_dlopen(path, flags);
    if (library && path && ct_recording()) ct_note_mappings();
    return library;
}
