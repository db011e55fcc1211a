/* SPDX-License-Identifier: BSD-3-Clause */
/* What is mapped: at the begin, by the loader, and by the program. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wrap.h"

/* Not reported (strings.c). */
extern char* __real_strchr(const char*, int);
extern int __real_strcmp(const char*, const char*);

static uint64_t whole_pages(uint64_t bytes) {
    const uint64_t page = (uint64_t)getpagesize();
    return (bytes + page - 1) / page * page;
}

static void unmapped(uint64_t address, uint64_t bytes) {
    const uint64_t words[] = {address, whole_pages(bytes)};
    ct_control(CT_UNMAPPED, words, 2, NULL);
}

/* --- libraries ---------------------------------------------------------------------------------------------------------- */

enum { MOST_LIBRARIES = 1024 };
typedef struct {
    unsigned count;
    struct {
        uint64_t begin, end;
    } all[MOST_LIBRARIES];
} Libraries;

/* The latest one is what was noted. */
static Libraries lists[2];
static unsigned latest;
static uint32_t noting; /* a lock */

static int has(const Libraries* list, uint64_t address) {
    for (unsigned i = 0; i < list->count; ++i)
        if (address - list->all[i].begin < list->all[i].end - list->all[i].begin) return 1;
    return 0;
}

int ct_in_library(uint64_t address) { return has(&lists[__atomic_load_n(&latest, __ATOMIC_RELAXED)], address); }

static int add_library(struct dl_phdr_info* library, size_t bytes, void* libraries) {
    Libraries* const list = libraries;
    uint64_t begin = ~0ull, end = 0;
    (void)bytes;
    for (unsigned i = 0; i < library->dlpi_phnum; ++i) {
        const uint64_t first = library->dlpi_addr + library->dlpi_phdr[i].p_vaddr;
        if (library->dlpi_phdr[i].p_type != PT_LOAD) continue;
        if (first < begin) begin = first;
        if (first + library->dlpi_phdr[i].p_memsz > end) end = first + library->dlpi_phdr[i].p_memsz;
    }
    if (begin >= end || list->count == MOST_LIBRARIES) return 0;
    begin -= begin % (uint64_t)getpagesize();
    list->all[list->count].begin = begin;
    list->all[list->count++].end = begin + whole_pages(end - begin);
    return 0;
}

/* --- lines of /proc/self/maps ------------------------------------------------------------------------------------------- */

/* Those of the program, or the others; where there is a list `before`, those of libraries that are not in it. */
typedef struct {
    const char* program;
    int is_program;
    const Libraries *before, *now;
} Lines;

static uint64_t hexadecimal(const char** text) {
    uint64_t value = 0;
    for (;; ++*text) {
        const char digit = **text;
        if (digit >= '0' && digit <= '9') {
            value = value << 4 | (uint64_t)(digit - '0');
        } else if (digit >= 'a' && digit <= 'f') {
            value = value << 4 | (uint64_t)(digit - 'a' + 10);
        } else {
            return value;
        }
    }
}

/* The kernel writes a line's end in a path as \\012. A file may have a name with these characters, too. */
static void decode_path(char* path) {
    char* to = path;
    if (!__real_strchr(path, '\\') || access(path, F_OK) == 0) return;
    for (const char* from = path; *from; ++to) {
        const int is_end = from[0] == '\\' && from[1] == '0' && from[2] == '1' && from[3] == '2';
        *to = is_end ? '\n' : *from;
        from += is_end ? 4 : 1;
    }
    *to = '\0';
}

/* BEGIN-END rwxp OFFSET DEVICE INODE PATH. Memory of no file may be a library's zeros, or have a name in brackets. */
static void note_mapping(char* line, const Lines* which) {
    char* const path = __real_strchr(line, '/');
    const char* at = line;
    uint64_t words[4];
    if (path) decode_path(path);
    if ((path && __real_strcmp(path, which->program) == 0) != which->is_program) return;
    words[0] = hexadecimal(&at);
    if (which->before && (has(which->before, words[0]) || !has(which->now, words[0]))) return;
    ++at;
    words[1] = hexadecimal(&at) - words[0];
    words[2] = (at[1] == 'r' ? 4u : 0u) | (at[2] == 'w' ? 2u : 0u) | (at[3] == 'x' ? 1u : 0u);
    at += 6;
    words[3] = hexadecimal(&at);
    const char* const name = __real_strchr(at, '[');
    if (path || !name) {
        ct_control(CT_MAPPED, words, 4, path ? path : "");
    } else if (__real_strcmp(name, "[heap]") == 0) {
        ct_control(CT_BREAK, words, 2, NULL);
    }
}

static void note_lines(int descriptor, const Lines* which) {
    static char text[8192];
    size_t kept = 0;
    ssize_t count;
    lseek(descriptor, 0, SEEK_SET);
    while ((count = read(descriptor, text + kept, sizeof text - 1 - kept)) > 0) {
        char *line = text, *end;
        text[kept += (size_t)count] = '\0';
        for (; (end = __real_strchr(line, '\n')) != NULL; line = end + 1) {
            *end = '\0';
            note_mapping(line, which);
        }
        const size_t used = (size_t)(line - text);
        kept = used == 0 && kept == sizeof text - 1 ? 0 : kept - used;
        for (size_t i = 0; i < kept; ++i) text[i] = text[used + i];
    }
}

static void read_lines(const Libraries* before, const Libraries* now) {
    static char program[4096];
    Lines which = {program, 1, before, now};
    const int descriptor = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    note_lines(descriptor, &which); /* the program's come first */
    which.is_program = 0;
    note_lines(descriptor, &which);
    close(descriptor);
}

void ct_note_mappings(void) {
    if (!ct_captured()) return;
    while (__atomic_exchange_n(&noting, 1, __ATOMIC_SEQ_CST)) sched_yield();
    const Libraries* const before = &lists[latest];
    Libraries* const now = &lists[1 - latest];
    now->count = 0;
    dl_iterate_phdr(add_library, now);
    for (unsigned i = 0; i < before->count; ++i)
        if (!has(now, before->all[i].begin)) unmapped(before->all[i].begin, before->all[i].end - before->all[i].begin);
    read_lines(before->count != 0 ? before : NULL, now);
    __atomic_store_n(&latest, 1 - latest, __ATOMIC_RELAXED);
    __atomic_store_n(&noting, 0, __ATOMIC_SEQ_CST);
}

MAYBE(void*, dlopen, const char* path, int flags) {
    void* const library = __real_dlopen(path, flags);
    if (library && path) ct_note_mappings();
    return library;
}
MAYBE(int, dlclose, void* library) {
    const int error = __real_dlclose(library);
    ct_note_mappings();
    return error;
}

/* --- the program's own ---------------------------------------------------------------------------------------------------- */

/* 0: it is no file's. */
static int path_of(int descriptor, char* path, size_t room) {
    char link[32] = "/proc/self/fd/", digits[12];
    unsigned count = 0, at = 14;
    if (descriptor < 0) return 0;
    do digits[count++] = (char)('0' + descriptor % 10);
    while ((descriptor /= 10) != 0);
    while (count != 0) link[at++] = digits[--count];
    const ssize_t length = readlink(link, path, room - 1);
    path[length > 0 ? length : 0] = '\0';
    return path[0] == '/';
}

static void* mapped(void* place, size_t bytes, int protection, int flags, int descriptor, uint64_t offset,
                    const uint64_t* frame) {
    char path[4096];
    if (place == MAP_FAILED || !ct_captured()) return place;
    bytes = whole_pages(bytes);
    if (!(flags & MAP_ANONYMOUS) && path_of(descriptor, path, sizeof path)) {
        const uint64_t words[] = {(uint64_t)place, bytes,
                                  (protection & PROT_READ ? 4u : 0u) | (protection & PROT_WRITE ? 2u : 0u) |
                                      (protection & PROT_EXEC ? 1u : 0u),
                                  offset};
        ct_control(CT_MAPPED, words, 4, path);
    } else {
        ct_control_by(CT_MAPPED_BY, place, bytes, frame);
    }
    return place;
}

REAL(void*, mmap, void* place, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
    return mapped(__real_mmap(place, bytes, protection, flags, descriptor, offset), bytes, protection, flags, descriptor,
                  (uint64_t)offset, CT_FRAME);
}
MAYBE(void*, mmap64, void* place, size_t bytes, int protection, int flags, int descriptor, off64_t offset) {
    return mapped(__real_mmap64(place, bytes, protection, flags, descriptor, offset), bytes, protection, flags,
                  descriptor, (uint64_t)offset, CT_FRAME);
}
REAL(int, munmap, void* place, size_t bytes) {
    if (bytes != 0 && (uint64_t)place == whole_pages((uint64_t)place)) unmapped((uint64_t)place, bytes);
    return __real_munmap(place, bytes);
}

/* What a block becomes when it grows or moves is named by who asks for that. */
extern void* __real_mremap(void*, size_t, size_t, int, void*);
CT_EXPORT CT_WRAPPER void* __wrap_mremap(void* before, size_t old_bytes, size_t bytes, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    void* const wish = flags & MREMAP_FIXED ? va_arg(rest, void*) : NULL;
    va_end(rest);
    char* const place = __real_mremap(before, old_bytes, bytes, flags, wish);
    if (place == MAP_FAILED || !ct_captured()) return place;
    const uint64_t kept = place == before ? whole_pages(old_bytes) : 0, now = whole_pages(bytes);
    if (kept == 0 && old_bytes != 0) unmapped((uint64_t)before, old_bytes);
    if (now > kept) ct_control_by(CT_MAPPED_BY, place + kept, now - kept, CT_FRAME);
    if (now < kept) unmapped((uint64_t)place + now, kept - now);
    return place;
}

static void grown(char* before, char* end) {
    const uint64_t words[] = {(uint64_t)before, (uint64_t)(end - before)};
    if (end > before) ct_control(CT_BREAK, words, 2, NULL);
}
REAL(void*, sbrk, intptr_t increment) {
    char* const before = __real_sbrk(increment);
    if (before != (char*)-1) grown(before, before + increment);
    return before;
}
REAL(int, brk, void* end) {
    char* const before = __real_sbrk(0);
    const int error = __real_brk(end);
    if (error == 0) grown(before, end);
    return error;
}
