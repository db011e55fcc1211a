/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pub_tool_basics.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "tool.h"

/* In libcoregrind, and in no public header. */
extern Int VG_(safe_fd)(Int);
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT, UInt, Int, Off64T);

ct_ring* ring;

static Bool nobody_reads; /* words go round in the first chunk */
static Int reader = -1;   /* a descriptor of the process that reads: readable when it has ended, even as a zombie */

enum { FUTEX_WAIT_ = 0, FUTEX_WAKE_ = 1, MAP_PRIVATE_FIXED = 0x32, SYS_PIDFD_OPEN = 434 };

static long call(long number, long a, long b, long c, long d, long e, long f) {
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static UInt load(const UInt* word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }
static void store(UInt* word, UInt value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); }

static UChar* chunk_begin(UInt chunk) { return (UChar*)ring + ring->header_bytes + (SizeT)chunk * ring->chunk_bytes; }

static void open_chunk(UInt chunk) {
    store(&ring->chunk[chunk].state, CT_FILLING);
    ring->open_chunk = chunk;
    ring->data = (ULong)chunk_begin(chunk);
    ring->runs = (ULong)chunk_begin(chunk) + ring->chunk_bytes;
    store(&ring->open, 1);
}

static void begin_again(void) {
    nobody_reads = True;
    open_chunk(0);
}

static Bool reader_is_gone(void) {
    struct vki_pollfd waiting = {reader, VKI_POLLIN, 0};
    if (load(&ring->reader_gone)) return True;
    if (reader < 0 || call(__NR_poll, (long)&waiting, 1, 0, 0, 0, 0) != 1) return False;
    store(&ring->reader_gone, 1);
    return True;
}

static void publish(void) {
    ct_chunk* chunk = &ring->chunk[ring->open_chunk];
    const ULong begin = (ULong)chunk_begin(ring->open_chunk);
    const UInt number = ring->reserved++;
    chunk->data_words = (ring->data - begin) / 8;
    chunk->run_words = (begin + ring->chunk_bytes - ring->runs) / 8;
    store(&ring->open, 0);
    store(&chunk->state, CT_FULL);
    store(&ring->order[number % CT_MOST_CHUNKS], ring->open_chunk);
    store(&ring->published, number + 1);
    if (!load(&ring->reader_waits)) return;
    store(&ring->reader_waits, 0);
    call(__NR_futex, (long)&ring->reader_waits, FUTEX_WAKE_, 1, 0, 0, 0);
}

/* The next free chunk, or the number of chunks. */
static UInt free_chunk(void) {
    UInt i;
    for (i = 1; i <= ring->chunks; ++i) {
        const UInt chunk = (ring->open_chunk + i) % ring->chunks;
        if (load(&ring->chunk[chunk].state) == CT_FREE) return chunk;
    }
    return ring->chunks;
}

/* Sleeps for a short time at most, so that the end of the reader is noticed. */
static void wait_for_reader(UInt consumed) {
    struct { long seconds, nanoseconds; } limit = {0, 20000000};
    __atomic_fetch_add(&ring->writer_waits, 1, __ATOMIC_SEQ_CST);
    call(__NR_futex, (long)&ring->consumed, FUTEX_WAIT_, consumed, (long)&limit, 0, 0);
    __atomic_fetch_sub(&ring->writer_waits, 1, __ATOMIC_SEQ_CST);
}

void ring_next_chunk(void) {
    if (nobody_reads || reader_is_gone()) return begin_again();
    publish();
    while (True) {
        const UInt consumed = load(&ring->consumed), chunk = free_chunk();
        if (chunk != ring->chunks) return open_chunk(chunk);
        if (reader_is_gone()) return begin_again();
        wait_for_reader(consumed);
    }
}

ULong* ring_control(UInt kind, UInt words) {
    ULong* place;
    if (!ring) return NULL;
    tl_assert(words <= CT_MOST_CONTROL_WORDS);
    if (ring->runs - ring->data < BLOCK_ROOM + 8ul * (words + 1)) ring_next_chunk();
    place = (ULong*)ring->runs;
    place[-1] = CT_CONTROL(kind, words);
    return place - 2;
}

/* Only now is the control complete. */
static void take(UInt words) { ring->runs -= 8ul * (words + 1); }

void ring_write(UInt kind, const ULong* words, UInt count, const HChar* text) {
    UInt length = text ? VG_(strlen)(text) : 0, text_words = text ? length / 8 + 1 : 0, i;
    ULong* place;
    if (text_words > CT_MOST_CONTROL_WORDS / 2) {
        text_words = CT_MOST_CONTROL_WORDS / 2;
        length = text_words * 8 - 1;
    }
    place = ring_control(kind, count + text_words);
    if (!place) return;
    for (i = 0; i < count; ++i) *place-- = words[i];
    for (i = 0; i < text_words; ++i) {
        ULong word = 0;
        const UInt left = length - i * 8;
        VG_(memcpy)(&word, text + i * 8, left < 8 ? left : 8);
        *place-- = word;
    }
    take(count + text_words);
}

static void fail(const HChar* what, const HChar* path) {
    VG_(umsg)("cachetally: %s: %s\n", path, what);
    VG_(exit)(1);
}

/* Or was, before this process executed another program. */
static Bool is_mine(void) {
    UInt nobody = 0;
    const UInt self = (UInt)VG_(getpid)();
    return __atomic_compare_exchange_n(&ring->writer, &nobody, self, False, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ||
           nobody == self;
}

void ring_open(const HChar* path) {
    struct vg_stat file;
    SysRes result = VG_(open)(path, VKI_O_RDWR, 0);
    Int descriptor;
    if (sr_isError(result)) fail("the ring cannot be opened", path);
    descriptor = VG_(safe_fd)(sr_Res(result));
    if (VG_(fstat)(descriptor, &file) != 0 || file.size < CT_HEADER_BYTES) fail("this is not a ring", path);
    result = VG_(am_shared_mmap_file_float_valgrind)(file.size, VKI_PROT_READ | VKI_PROT_WRITE, descriptor, 0);
    if (sr_isError(result)) fail("the ring cannot be mapped", path);
    VG_(close)(descriptor);
    ring = (ct_ring*)sr_Res(result);
    if (ring->magic != CT_RING_MAGIC || ring->version != CT_RING_VERSION || ring->chunks == 0 ||
        ring->chunks > CT_MOST_CHUNKS || ring->header_bytes != CT_HEADER_BYTES || ring->chunk_bytes != CT_CHUNK_BYTES ||
        (ULong)file.size < ring->header_bytes + (ULong)ring->chunks * ring->chunk_bytes)
        fail("this is not a ring of this version", path);
    reader = call(SYS_PIDFD_OPEN, ring->reader, 0, 0, 0, 0, 0);
    if (reader >= 0) reader = VG_(safe_fd)(reader);
    if (!is_mine()) {
        ring = NULL;
        return;
    }
    ring->base = (ULong)ring;
    ring->open_chunk = ring->chunks - 1;
    if (free_chunk() == ring->chunks) fail("the ring is in use", path);
    open_chunk(free_chunk());
}

void ring_end(void) {
    if (!ring || nobody_reads) return;
    publish();
    store(&ring->ended, 1);
    call(__NR_futex, (long)&ring->reader_waits, FUTEX_WAKE_, 1, 0, 0, 0);
}

/* Generated code has the ring's addresses in it: the child of a fork keeps them, with memory of its own behind. */
void ring_in_child(void) {
    static ct_ring header;
    SizeT bytes;
    if (!ring) return;
    header = *ring;
    bytes = header.header_bytes + (SizeT)header.chunks * header.chunk_bytes;
    if (call(__NR_mmap, (long)ring, bytes, VKI_PROT_READ | VKI_PROT_WRITE, MAP_PRIVATE_FIXED, -1, 0) != (long)ring)
        fail("a forked process gets no memory of its own", "ring");
    *ring = header;
    begin_again();
}
