/* SPDX-License-Identifier: BSD-3-Clause */
/* Files in memory: lines of /proc/self/maps. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "wrap.h"

/* Not reported (strings.c). */
extern char* __real_strchr(const char*, int);
extern int __real_strcmp(const char*, const char*);

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

/* BEGIN-END rwxp OFFSET DEVICE INODE PATH */
static void note_mapping(const char* line, const char* program, int is_program) {
    const char* path = __real_strchr(line, '/');
    uint64_t words[4];
    if (!path || (__real_strcmp(path, program) == 0) != is_program) return;
    words[0] = hexadecimal(&line);
    ++line;
    words[1] = hexadecimal(&line) - words[0];
    words[2] = (line[1] == 'r' ? 4u : 0u) | (line[2] == 'w' ? 2u : 0u) | (line[3] == 'x' ? 1u : 0u);
    line += 6;
    words[3] = hexadecimal(&line);
    ct_control(CT_MAPPED, words, 4, path);
}

static void note_lines(int descriptor, const char* program, int is_program) {
    static char text[8192];
    size_t kept = 0;
    ssize_t count;
    lseek(descriptor, 0, SEEK_SET);
    while ((count = read(descriptor, text + kept, sizeof text - 1 - kept)) > 0) {
        char *line = text, *end;
        text[kept += (size_t)count] = '\0';
        for (; (end = __real_strchr(line, '\n')) != NULL; line = end + 1) {
            *end = '\0';
            note_mapping(line, program, is_program);
        }
        const size_t used = (size_t)(line - text);
        kept = used == 0 && kept == sizeof text - 1 ? 0 : kept - used;
        for (size_t i = 0; i < kept; ++i) text[i] = text[used + i];
    }
}

/* The program's come first. */
void ct_note_mappings(void) {
    static uint32_t reading; /* a lock */
    static char program[4096];
    const int descriptor = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    while (__atomic_exchange_n(&reading, 1, __ATOMIC_SEQ_CST)) sched_yield();
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    note_lines(descriptor, program, 1);
    note_lines(descriptor, program, 0);
    __atomic_store_n(&reading, 0, __ATOMIC_SEQ_CST);
    close(descriptor);
}

MAYBE(void*, dlopen, const char* path, int flags) {
    void* const library = __real_dlopen(path, flags);
    if (library && path && ct_captured()) ct_note_mappings();
    return library;
}
