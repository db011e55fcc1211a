/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks of the ring, which threads own one at a time. */
#define _GNU_SOURCE
#include "chunks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PIDFD_OPEN = 434, MOST_WAITS_FOR_OTHERS = 10 };

static ct_ring* ring;
static int reader = -1;      /* a descriptor of the process that reads: readable when it has ended */
static uint32_t publishing;  /* a lock */

static uint32_t load(const uint32_t* word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }
static void store(uint32_t* word, uint32_t value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); }

static int is_ring(const ct_ring* header, uint64_t bytes) {
    return header->magic == CT_RING_MAGIC && header->version == CT_RING_VERSION && header->chunks != 0 &&
           header->chunks <= CT_MOST_CHUNKS && header->header_bytes == CT_HEADER_BYTES &&
           header->chunk_bytes == CT_CHUNK_BYTES && bytes >= CT_HEADER_BYTES + (uint64_t)header->chunks * CT_CHUNK_BYTES;
}

/* So that each chunk ends where an address has no low bits. */
static void* map_aligned(int descriptor, uint64_t bytes) {
    const uint64_t room = bytes + 2 * CT_CHUNK_BYTES;
    char* const place = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint64_t chunks;
    if (place == MAP_FAILED) return NULL;
    chunks = ((uint64_t)place + CT_HEADER_BYTES + CT_CHUNK_BYTES - 1) / CT_CHUNK_BYTES * CT_CHUNK_BYTES;
    void* const header = (void*)(chunks - CT_HEADER_BYTES);
    return mmap(header, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0) == header ? header : NULL;
}

int ct_open_ring(const char* path) {
    struct stat file;
    uint32_t nobody = 0;
    const int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return 0;
    if (fstat(descriptor, &file) == 0 && file.st_size >= (off_t)CT_HEADER_BYTES)
        ring = map_aligned(descriptor, (uint64_t)file.st_size);
    close(descriptor);
    if (!ring || !is_ring(ring, (uint64_t)file.st_size)) return 0;
    if (!__atomic_compare_exchange_n(&ring->writer, &nobody, (uint32_t)getpid(), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return 0; /* of another process */
    reader = (int)syscall(PIDFD_OPEN, ring->reader, 0);
    return 1;
}

int ct_reader_is_gone(void) {
    struct pollfd ended = {reader, POLLIN, 0};
    if (load(&ring->reader_gone)) return 1;
    if (reader < 0 ? kill((pid_t)ring->reader, 0) == 0 || errno != ESRCH : poll(&ended, 1, 0) != 1) return 0;
    store(&ring->reader_gone, 1);
    return 1;
}

void ct_ring_ended(void) { store(&ring->ended, 1); }

static uint64_t* begin_of(uint32_t chunk) {
    return (uint64_t*)((char*)ring + CT_HEADER_BYTES + (size_t)chunk * CT_CHUNK_BYTES);
}

/* The lowest free one, which is the most likely to be in a cache. */
static uint64_t* free_chunk(unsigned thread) {
    uint32_t i;
    for (i = 0; i < ring->chunks; ++i) {
        ct_chunk* const chunk = &ring->chunk[i];
        uint32_t state = CT_FREE;
        uint64_t* const begin = begin_of(i);
        if (load(&chunk->state) != CT_FREE ||
            !__atomic_compare_exchange_n(&chunk->state, &state, CT_TAKEN, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            continue;
        chunk->thread = thread;
        chunk->run_words = CT_PAIRS;
        begin[0] = (uint64_t)(begin + CT_PAIRS_BEGIN);
        begin[1] = (uint64_t)begin;
        store(&chunk->state, CT_FILLING);
        return begin;
    }
    return NULL;
}

static void wait_for_reader(uint32_t consumed) {
    const struct timespec limit = {0, 20000000};
    __atomic_fetch_add(&ring->writer_waits, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &ring->consumed, FUTEX_WAIT, consumed, &limit, NULL, 0);
    __atomic_fetch_sub(&ring->writer_waits, 1, __ATOMIC_SEQ_CST);
}

uint64_t* ct_take_chunk(unsigned thread, int patient, void (*between)(void)) {
    unsigned waits_for_others = 0;
    while (!ct_reader_is_gone()) {
        const uint32_t consumed = load(&ring->consumed);
        uint64_t* const chunk = free_chunk(thread);
        if (chunk || !patient) return chunk;
        /* All are open, and their threads may wait for this one. */
        if (load(&ring->published) == consumed && ++waits_for_others > MOST_WAITS_FOR_OTHERS) return NULL;
        wait_for_reader(consumed);
        between();
    }
    return NULL;
}

void ct_publish_chunk(uint64_t* begin) {
    const uint32_t number = (uint32_t)(((char*)begin - (char*)ring - CT_HEADER_BYTES) / CT_CHUNK_BYTES);
    ct_chunk* const chunk = &ring->chunk[number];
    uint32_t place;
    chunk->data_words = (uint32_t)((uint64_t*)begin[0] - begin);
    store(&chunk->state, CT_FULL);
    while (__atomic_exchange_n(&publishing, 1, __ATOMIC_SEQ_CST)) sched_yield();
    place = ring->reserved++;
    store(&ring->order[place % CT_MOST_CHUNKS], number);
    store(&ring->published, place + 1);
    store(&publishing, 0);
    if (!load(&ring->reader_waits)) return;
    store(&ring->reader_waits, 0);
    syscall(SYS_futex, &ring->reader_waits, FUTEX_WAKE, 1, NULL, NULL, 0);
}
