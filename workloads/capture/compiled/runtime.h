/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime of programs that cachetally-cc compiles: it has the functions that -fsanitize=thread calls, and stores
   references into the ring (ring.h). Without CACHETALLY_RING in the environment it does nothing. */
#ifndef CACHETALLY_CAPTURE_RUNTIME_H
#define CACHETALLY_CAPTURE_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include "../ring.h"

#define CT_EXPORT __attribute__((visibility("default")))
#define CT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
/* The site of what an exported function does: the code that called it. */
#define CT_SITE ((uint64_t)__builtin_return_address(0))

/* Functions that stand in for others: call stacks go without them. */
#define CT_WRAPPER __attribute__((section("cachetally_wrappers")))
/* Of such a function: the frame pointer and where it returns to, as its caller keeps them, too. */
#define CT_FRAME ((const uint64_t*)__builtin_frame_address(0))

/* Of each thread: where the address of its next pair is kept. That is the first word of its chunk, so that a killed
   process leaves a readable one; or a word that is 0, while nothing is recorded. */
extern __thread uint64_t* ct_place __attribute__((tls_model("local-exec")));

/* The same for a pair that has no room: takes a chunk first, or leaves the reference out. */
void ct_store_slowly(uint64_t word, uint64_t site);

/* One reference. The end of a chunk is known by its address. */
static inline __attribute__((always_inline)) void ct_store(uint64_t word, uint64_t site) {
    uint64_t* const place = ct_place;
    uint64_t* const pair = (uint64_t*)*place;
    if (CT_UNLIKELY(((uintptr_t)pair & (CT_CHUNK_BYTES - 1)) == 0)) {
        ct_store_slowly(word, site);
        return;
    }
    pair[0] = word;
    pair[1] = site;
    __atomic_store_n(place, (uint64_t)(pair + 2), __ATOMIC_RELEASE);
}

#define CT_WORD(address, bytes, kind) ((uint64_t)(address) | (uint64_t)((bytes)-1) << CT_SIZE_SHIFT | (kind))

/* What a function does that works on many bytes: references of at most 32, the width of the registers that copy. */
void ct_store_range(const void* address, size_t bytes, uint64_t kind, uint64_t site);
void ct_store_copy(const void* to, const void* from, size_t bytes, uint64_t site);

/* Whether this process is captured; what follows does nothing where it is not. */
int ct_captured(void);
/* Whether references are recorded, too: the program can turn that off. */
int ct_recording(void);
void ct_control(unsigned kind, const uint64_t* words, unsigned count, const char* text);
/* The words: address, bytes, frames, and the call stack of the function with this frame. */
void ct_control_by(unsigned kind, const void* address, size_t bytes, const uint64_t* frame);
/* What this thread has recorded comes before what others hand over from here on. */
void ct_hand_over(void);
/* Of all threads: whether references are recorded. */
void ct_collect(int on);
/* The calling thread's; 0 is not yet known. A child's is taken by its parent, and its first frame is that of what calls
   its function. */
unsigned ct_new_thread(void);
void ct_begin_thread(unsigned number, const uint64_t* first_frame);
void ct_note_mappings(void);
/* Whether it lies in the program or a library that is noted. */
int ct_in_library(uint64_t address);
/* exit status; of the process that records, once */
void ct_end_process(int status);
/* One of so many threads has arrived at a barrier: the last one reports it. 0: as many as were reported before. */
void ct_arrived(const void* barrier, unsigned long participants);

#endif
