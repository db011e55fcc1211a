/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring through which a capture hands a program's references to cachetally: shared memory that a captured process
   fills and a reader empties. Plain C, as the valgrind tool and the compiled runtime use it, too. Layout: ours. */
#ifndef CACHETALLY_CAPTURE_RING_H
#define CACHETALLY_CAPTURE_RING_H

#include <stdint.h>

#define CT_RING_MAGIC 0x31474e4952544343ull /* "CCTRING1" */
#define CT_RING_VERSION 1u
#define CT_CHUNK_BYTES (256u * 1024u)
#define CT_MOST_CHUNKS 512u
#define CT_HEADER_BYTES 65536u /* of ct_ring, rounded up; chunk i begins at CT_HEADER_BYTES + i * CT_CHUNK_BYTES */

/* A chunk holds two stacks of 8-byte words that grow towards each other. Data words, from its first byte upwards: one
   per reference. Run words, from its last byte downwards: one per executed piece of code, and controls. The words of a
   run are the next ones of the data. Controls stand between runs, so their place in program order is known. */

/* Data words: address in bits 0-46, size - 1 in bits 48-56, store in bit 57, atomic in bit 58, else 0. A reference
   that its guard left out is CT_NO_REFERENCE. */
#define CT_ADDRESS_BITS 47
#define CT_SIZE_SHIFT 48
#define CT_MOST_SIZE 512u
#define CT_STORE (1ull << 57)
#define CT_ATOMIC (1ull << 58)
#define CT_NO_REFERENCE (~0ull)

/* Run words, by their highest two bits:
   00  an exit of a block (CT_BLOCK): bits 0-31 the number of the exit, at least 1. The block says how many data words
       and instructions there are until that exit.
   10  a site: bits 0-46 the program counter that made the next data words; bits 48-61 how many (0: one).
   01  a control: bits 0-15 its kind, bits 16-47 the number of words that follow (downwards, first word highest). */
#define CT_RUN_SITE (2ull << 62)
#define CT_RUN_CONTROL (1ull << 62)
#define CT_RUN_KIND(word) ((unsigned)((word) >> 62)) /* 0 exit, 1 control, 2 site */
#define CT_CONTROL(kind, words) (CT_RUN_CONTROL | (uint64_t)(words) << 16 | (kind))
#define CT_MOST_CONTROL_WORDS 8192u

/* A chunk of the compiled runtime holds pairs instead, in program order from CT_PAIRS_BEGIN on: a data word and the site
   of its reference, the address that the program's call of the runtime returns to. A control (its first two bits as
   above) is followed by its words, upwards, and fills whole pairs. Before them: the address of the next pair, and that
   of the chunk, both in the captured process. The chunk's thread is in its ct_chunk. */
#define CT_PAIRS (~0u) /* ct_chunk.run_words of such a chunk */
#define CT_PAIRS_BEGIN 8u

/* Controls and their words. Texts are UTF-8, ended by 0 and filled to whole words. */
enum ct_control {
    /* address; first exit | exits << 32; instructions | data words << 32; then each instruction: address | length << 56;
       each data word: instruction | size << 16 | (0 load, 1 store) << 32; each exit: data words | instructions << 32
       until there */
    CT_BLOCK = 1,
    CT_THREAD,         /* thread: its words follow, here and in further chunks until the next of these */
    CT_THREAD_CREATED, /* parent, child */
    CT_THREAD_ENDED,   /* thread */
    CT_ALLOCATED,      /* address, bytes, frames, then the call stack: program counters, innermost first */
    CT_RELEASED,       /* address */
    CT_MAPPED,         /* address, bytes, protection (4 read, 2 write, 1 execute), offset in file, path (may be empty) */
    CT_UNMAPPED,       /* address, bytes */
    CT_BREAK,          /* begin of the heap segment (brk), bytes */
    CT_STACK,          /* thread, lowest address, bytes */
    CT_BARRIER,        /* object, participants: this thread was the last to arrive */
    CT_PHASE,          /* name: a new phase of the program begins */
    CT_REGION,         /* address, bytes, bytes of an element, name */
    CT_COLLECT,        /* 1 or 0: references are recorded from here on, or no longer */
    CT_FUNCTION_ENTERED, /* address of the function */
    CT_FUNCTION_LEFT,  /* address of the function */
    CT_SIGNAL,         /* number, program counter */
    CT_FORKED,         /* process of the child */
    CT_EXECUTED,       /* path: the process runs another program from here on; empty: it could not */
    CT_EXITED,         /* exit status, or 256 + the signal that ends it */
    CT_DROPPED,        /* references that could not be stored: the capture is not whole */
    CT_MAPPED_BY,      /* address, bytes, frames, call stack as of CT_ALLOCATED: who mapped this memory of no file */
    CT_BEGUN           /* a program begins, in place of one that executed it if there was any */
};

/* CT_TAKEN: by a producer that has not yet prepared it. */
enum ct_chunk_state { CT_FREE = 0, CT_FILLING = 1, CT_FULL = 2, CT_TAKEN = 3 };

typedef struct ct_chunk {
    uint32_t state; /* ct_chunk_state; a producer takes a free one by compare-and-swap */
    uint32_t thread;
    /* Of a full chunk: its words. While it fills, they are known from its first words (CT_PAIRS) or from ct_ring.data
       and .runs (the valgrind tool), so that a killed process leaves a readable chunk. */
    uint32_t data_words, run_words;
} ct_chunk;

typedef struct ct_ring {
    uint64_t magic;
    uint32_t version, chunk_bytes, chunks, header_bytes;
    uint32_t reader, writer; /* processes */
    uint32_t reader_gone;    /* set by either side: nobody reads on; producers go on without recording */
    uint32_t ended;          /* 1: the program's end was written */
    uint32_t padding0[6];
    /* Of the valgrind tool, at fixed addresses of its own: where the next words go in the open chunk. */
    uint64_t data;  /* next data word */
    uint64_t runs;  /* latest run word */
    uint64_t base;  /* where the ring is mapped in the captured process */
    uint32_t open_chunk, open; /* the chunk that data and runs point into; 1 while there is one */
    uint64_t padding1[4];
    /* Order of full chunks: number n is order[n % CT_MOST_CHUNKS]. A producer reserves n from `reserved`, stores the
       chunk's number there, then raises `published` from n to n + 1, when all before are in. */
    uint32_t reserved, published;
    uint32_t reader_waits; /* futex of the reader, 1 while it sleeps */
    uint32_t padding2[13];
    uint32_t consumed;     /* by the reader, after it has made the chunk free */
    uint32_t writer_waits; /* producers that sleep; they wait on `consumed`, a futex */
    uint32_t padding3[14];
    uint32_t order[CT_MOST_CHUNKS];
    ct_chunk chunk[CT_MOST_CHUNKS];
} ct_ring;

#ifdef __cplusplus
static_assert(sizeof(ct_ring) <= CT_HEADER_BYTES, "chunks begin behind the header");
#endif

#endif
