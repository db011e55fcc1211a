/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads, and the way of a process into and out of its capture. */
#define _GNU_SOURCE
#include "runtime.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "chunks.h"

/* What says that an ELF file has this runtime. */
__attribute__((used, section(".note.cachetally"), aligned(4))) static const struct {
    uint32_t name_bytes, text_bytes, kind;
    char name[12];
    uint32_t version;
} marker = {11, 4, 1, "cachetally", CT_RING_VERSION};

enum { MOST_FRAMES = 12 }; /* as the valgrind tool has it */

/* Of a thread that lives and has begun. */
typedef struct ct_thread {
    struct ct_thread *next, **before;
    uint64_t** place; /* its ct_place */
    uint64_t* chunk;  /* NULL: none */
    uint64_t dropped;
    unsigned number;
    int busy, over, error;
    int starved; /* got no chunk when it asked for one */
    uint64_t stack, end_of_stack;
} ct_thread;

static uint64_t nowhere; /* 0: the end of a chunk */
__thread uint64_t* ct_place = &nowhere;
static __thread ct_thread self;

static int recording;   /* of the process */
static int collecting;  /* as the program wishes */
static pid_t process;
static unsigned threads;
static ct_thread* first_thread;
static uint32_t listing; /* a lock */
static pthread_key_t end_of_thread;

static int is(const int* flag) { return __atomic_load_n(flag, __ATOMIC_RELAXED); }
static void lock(void) {
    while (__atomic_exchange_n(&listing, 1, __ATOMIC_SEQ_CST)) sched_yield();
}
static void unlock(void) { __atomic_store_n(&listing, 0, __ATOMIC_SEQ_CST); }

int ct_captured(void) { return is(&recording); }
int ct_recording(void) { return is(&recording) && is(&collecting); }

/* Signal handlers record, too, but must not come in between here. */
static void block_signals(sigset_t* before) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}
static __thread sigset_t outside;

static void let_signals_in(void) {
    sigset_t all;
    pthread_sigmask(SIG_SETMASK, &outside, &all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
}

static void point_to(uint64_t* place) { __atomic_store_n(&ct_place, place, __ATOMIC_RELAXED); }

/* --- chunks of a thread --------------------------------------------------------------------------------------------- */

static void put_down(void) {
    uint64_t* const chunk = self.chunk;
    if (!chunk) return;
    self.chunk = NULL;
    point_to(&nowhere);
    ct_publish_chunk(chunk);
}

static unsigned room(void) {
    return self.chunk ? (unsigned)((uint64_t*)((char*)self.chunk + CT_CHUNK_BYTES) - (uint64_t*)self.chunk[0]) : 0;
}

static void stop(void) {
    self.chunk = NULL;
    point_to(&nowhere);
    __atomic_store_n(&recording, 0, __ATOMIC_RELAXED);
}

static void write_pairs(const uint64_t* words, unsigned count) {
    uint64_t* const place = (uint64_t*)self.chunk[0];
    unsigned i;
    for (i = 0; i < count; ++i) place[i] = words[i];
    __atomic_store_n(&self.chunk[0], (uint64_t)(place + (count + 1) / 2 * 2), __ATOMIC_RELEASE);
}

static void write_dropped(void) {
    const uint64_t words[] = {CT_CONTROL(CT_DROPPED, 1), self.dropped};
    self.dropped = 0;
    write_pairs(words, 2);
}

/* Room for so many words; 0: there is none. */
static int make_room(unsigned words) {
    if (!is(&recording)) return 0;
    if (room() < words) {
        put_down();
        self.chunk = ct_take_chunk(self.number, !self.starved, let_signals_in);
        self.starved = !self.chunk;
        if (self.starved) {
            if (ct_reader_is_gone()) stop();
            return 0;
        }
        if (self.dropped != 0) write_dropped();
    }
    if (is(&collecting)) point_to(self.chunk);
    return 1;
}

static void write_control(unsigned kind, const uint64_t* words, unsigned count, const char* text) {
    unsigned length = 0, text_words = 0, i;
    uint64_t* place;
    if (text) {
        while (text[length] && length < CT_MOST_CONTROL_WORDS * 4) ++length;
        text_words = length / 8 + 1;
    }
    if (!make_room(count + text_words + 2)) return;
    place = (uint64_t*)self.chunk[0];
    place[0] = CT_CONTROL(kind, count + text_words);
    for (i = 0; i < count; ++i) place[1 + i] = words[i];
    for (i = 0; i < text_words; ++i) {
        uint64_t word = 0;
        unsigned byte;
        for (byte = 0; byte < 8 && i * 8 + byte < length; ++byte)
            word |= (uint64_t)(unsigned char)text[i * 8 + byte] << 8 * byte;
        place[1 + count + i] = word;
    }
    __atomic_store_n(&self.chunk[0], (uint64_t)(place + (count + text_words + 2) / 2 * 2), __ATOMIC_RELEASE);
}

/* --- threads ---------------------------------------------------------------------------------------------------------- */

unsigned ct_new_thread(void) { return __atomic_add_fetch(&threads, 1, __ATOMIC_SEQ_CST); }

/* pthread_getattr_np ends the first stack after the page that main was called from. Above are arguments, environment,
   and at the very end the name of the program's file and 8 bytes of 0. */
static size_t with_arguments(uint64_t lowest, size_t bytes) {
    extern void* __libc_stack_end; /* where the program found its arguments */
    const char* const file = (const char*)getauxval(AT_EXECFN);
    if ((uint64_t)__libc_stack_end - lowest >= bytes || !file) return bytes;
    return (uint64_t)file + strlen(file) + 1 + 8 - lowest;
}

static void write_stack(void) {
    pthread_attr_t attributes;
    void* lowest;
    size_t bytes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    if (pthread_attr_getstack(&attributes, &lowest, &bytes) == 0) {
        bytes = with_arguments((uint64_t)lowest, bytes);
        const uint64_t words[] = {self.number, (uint64_t)lowest, bytes};
        const uint64_t control = (uint64_t)pthread_self(); /* above the frames of a thread, but the first */
        self.stack = words[1];
        self.end_of_stack = control - words[1] < bytes ? control : words[1] + bytes;
        write_control(CT_STACK, words, 3, NULL);
    }
    pthread_attr_destroy(&attributes);
}

static void begin_thread(unsigned number) {
    self.number = number;
    self.place = &ct_place;
    lock();
    self.next = first_thread;
    self.before = &first_thread;
    if (first_thread) first_thread->before = &self.next;
    first_thread = &self;
    unlock();
    pthread_setspecific(end_of_thread, &self);
    write_stack();
}

static void leave_thread(void* thread) {
    const uint64_t words[] = {self.number};
    sigset_t before;
    (void)thread;
    block_signals(&before);
    outside = before;
    self.busy = self.over = 1;
    write_control(CT_THREAD_ENDED, words, 1, NULL);
    if (is(&recording)) put_down();
    lock();
    *self.before = self.next;
    if (self.next) self.next->before = self.before;
    unlock();
    point_to(&nowhere);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* 0: this thread cannot record now. */
static int enter(sigset_t* before) {
    if (!is(&recording) || self.busy) return 0;
    block_signals(before);
    self.busy = 1;
    self.error = errno; /* the program's, also where it reads memory */
    outside = *before;
    if (self.number == 0) begin_thread(ct_new_thread());
    return 1;
}
static void leave(const sigset_t* before) {
    errno = self.error;
    self.busy = self.over;
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

void ct_begin_thread(unsigned number, const uint64_t* first_frame) {
    sigset_t before;
    if (!is(&recording) || self.number != 0) return;
    block_signals(&before);
    self.busy = 1;
    self.error = errno;
    outside = before;
    begin_thread(number);
    self.end_of_stack = (uint64_t)(first_frame + 2);
    leave(&before);
}

/* --- what other files ask for ----------------------------------------------------------------------------------------- */

void ct_store_slowly(uint64_t word, uint64_t site) {
    sigset_t before;
    if (!ct_recording()) return;
    if (!enter(&before)) {
        self.dropped += self.over != 0; /* else they are this runtime's own, by a static libc */
        return;
    }
    if (make_room(2)) {
        const uint64_t pair[] = {word, site};
        write_pairs(pair, 2);
    } else {
        ++self.dropped;
    }
    leave(&before);
}

void ct_control(unsigned kind, const uint64_t* words, unsigned count, const char* text) {
    sigset_t before;
    if (!enter(&before)) return;
    write_control(kind, words, count, text);
    leave(&before);
}

extern const char __start_cachetally_wrappers[] __attribute__((visibility("hidden")));
extern const char __stop_cachetally_wrappers[] __attribute__((visibility("hidden")));

static int is_wrapper(uint64_t counter) {
    return counter >= (uint64_t)__start_cachetally_wrappers && counter < (uint64_t)__stop_cachetally_wrappers;
}
static int has(const uint64_t* counters, unsigned count, uint64_t counter) {
    while (count != 0 && counters[count - 1] != counter) --count;
    return count != 0;
}

/* Innermost first, each as valgrind has it: the byte before where the call returns to. Code without frame pointers ends
   it, since that may leave anything where they were. Each once: recursion would make thousands of different stacks. */
static unsigned call_stack(const uint64_t* frame, uint64_t* counters) {
    unsigned count = 0, frames;
    for (frames = 0; frames < MOST_FRAMES; ++frames) {
        const uint64_t here = (uint64_t)frame, next = frame[0], counter = frame[1] - 1;
        if (count != 0 && !ct_in_library(counter)) break;
        if (!has(counters, count, counter) && !is_wrapper(counter)) counters[count++] = counter;
        if (here < self.stack || next <= here || next % 16 != 0 || next >= self.end_of_stack) break;
        frame = (const uint64_t*)next;
    }
    return count;
}

void ct_control_by(unsigned kind, const void* address, size_t bytes, const uint64_t* frame) {
    uint64_t words[3 + MOST_FRAMES] = {(uint64_t)address, bytes};
    sigset_t before;
    if (!enter(&before)) return;
    words[2] = call_stack(frame, &words[3]);
    write_control(kind, words, 3 + (unsigned)words[2], NULL);
    leave(&before);
}

void ct_hand_over(void) {
    sigset_t before;
    if (!enter(&before)) return;
    put_down();
    leave(&before);
}

void ct_collect(int on) {
    const uint64_t words[] = {on != 0};
    const ct_thread* thread;
    if (!is(&recording) || on == is(&collecting)) return;
    ct_control(CT_COLLECT, words, 1, NULL);
    lock();
    __atomic_store_n(&collecting, on, __ATOMIC_RELAXED);
    for (thread = first_thread; thread; thread = thread->next)
        __atomic_store_n(thread->place, on && thread->chunk ? thread->chunk : &nowhere, __ATOMIC_RELAXED);
    unlock();
}

/* --- the process ------------------------------------------------------------------------------------------------------ */

static void on_fork_in_parent(void) {
    const uint64_t words[] = {0};
    ct_control(CT_FORKED, words, 1, NULL);
}
/* The ring is its parent's. */
static void on_fork_in_child(void) { stop(); }

void ct_end_process(int status) {
    const uint64_t words[] = {(uint64_t)(status & 0xff)};
    if (!is(&recording) || getpid() != process) return;
    ct_control(CT_EXITED, words, 1, NULL);
    ct_hand_over();
    ct_ring_ended();
}
static void on_exit_of_process(int status, void* nothing) {
    (void)nothing;
    ct_end_process(status);
}

__attribute__((constructor(101))) static void begin(void) {
    const char* const path = getenv("CACHETALLY_RING");
    (void)marker;
    if (!path) return;
    process = getpid();
    recording = collecting = ct_open_ring(path);
    unsetenv("CACHETALLY_RING"); /* what the program executes does not write into it */
    if (!recording) return;
    pthread_key_create(&end_of_thread, leave_thread);
    pthread_atfork(NULL, on_fork_in_parent, on_fork_in_child);
    on_exit(on_exit_of_process, NULL);
    ct_note_mappings();
}
