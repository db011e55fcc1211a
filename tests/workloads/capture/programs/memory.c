/* SPDX-License-Identifier: BSD-3-Clause */
/* All ways to memory, each with a number of accesses of its own: what allocates has a name, and so has what maps. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cachetally.h"

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa)) /* nor made for its arguments, under another name */
#endif
#define KEEP(pointer) __asm__ volatile("" : "+r"(pointer))

static void touch(volatile char* bytes, int count) {
    for (int i = 0; i < count; ++i) bytes[i * 8] = 1;
}

NOINLINE static void* wrapped(size_t bytes) {
    void* block = malloc(bytes);
    KEEP(block);
    return block;
}
NOINLINE static void matrix(void) { touch(wrapped(8192), 1001); }
NOINLINE static void table(void) { touch(wrapped(8192), 502); }

static long late[64];

NOINLINE static void turned_off(void) {
    CACHETALLY_OFF();
    void* const block = malloc(4096);
    CACHETALLY_REGION("late", late, sizeof late, 8);
    touch(block, 400);
    CACHETALLY_ON();
    touch(block, 303);
    touch((char*)late, 44);
    CACHETALLY_OFF();
    free(block);
    CACHETALLY_ON();
}

static void* release(void* block) {
    free(block);
    return NULL;
}
static void* own(void* nothing) {
    touch(malloc(4096), 204);
    return nothing;
}
static void in_thread(void* (*function)(void*), void* data) {
    pthread_t thread;
    pthread_create(&thread, NULL, function, data);
    pthread_join(thread, NULL);
}
/* Too large to be kept for the thread that releases it: the same place is free again. */
NOINLINE static void released_elsewhere(void) {
    for (int i = 0; i < 2; ++i) {
        void* const block = malloc(1 << 20);
        touch(block, 105);
        in_thread(release, block);
    }
}

NOINLINE static void of_file(const char* path) {
    const int file = open(path, O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, 65536) != 0) abort();
    void* const place = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    touch(place, 806);
    munmap(place, 65536);
    close(file);
}
NOINLINE static void of_nobody(void) {
    void* const place = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    touch(place, 707);
    munmap(place, 65536);
}
/* Where a library was, whose data were needed or not, something else is mapped. */
NOINLINE static char* of_library(int count) {
    void* const library = dlopen("./library.so", RTLD_NOW);
    if (!library) abort();
    char* const numbers = dlsym(library, "numbers");
    touch(numbers, count);
    dlclose(library);
    return numbers;
}
NOINLINE static void in_place_of(char* numbers, int flags, int file, int count) {
    char* const page = numbers - (unsigned long)numbers % 4096;
    if (mmap(page, 8192, PROT_READ | PROT_WRITE, flags | MAP_PRIVATE | MAP_FIXED, file, 0) != page) abort();
    touch(numbers, count);
    munmap(page, 8192);
}
NOINLINE static void of_libraries(const char* path) {
    const int file = open(path, O_RDONLY);
    in_place_of(of_library(0), 0, file, 50);
    in_place_of(of_library(48), MAP_ANONYMOUS, -1, 49);
    close(file);
}
NOINLINE static void moved(void) {
    void* const before = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char* const place = mremap(before, 4096, 1 << 22, MREMAP_MAYMOVE);
    touch(place + (1 << 21), 310);
}
NOINLINE static void grown(void) { touch(sbrk(65536), 611); }

static __thread long of_thread[128];

int main(int argc, char** argv) {
    if (argc < 2) return 1;
    matrix();
    table();
    turned_off();
    in_thread(own, NULL);
    released_elsewhere();
    of_file(argv[1]);
    of_nobody();
    of_libraries(argv[1]);
    moved();
    grown();
    touch((char*)of_thread, 112);
    return 0;
}
