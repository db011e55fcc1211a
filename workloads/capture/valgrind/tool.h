/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the capture tool: valgrind runs the program, this tool stores its references into the ring (ring.h). */
#ifndef CACHETALLY_CAPTURE_TOOL_H
#define CACHETALLY_CAPTURE_TOOL_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

#include "../ring.h"

typedef struct {
    const HChar* ring; /* path; NULL: none */
    const HChar* program; /* the first process that executes this is recorded; NULL: the first process */
    const HChar* from; /* function that recording begins at; NULL: the first */
    Bool heap, fetches, functions, start_off;
    Int frames; /* of call stacks of allocations */
} Options;

extern Options options;

/* --- ring_writer.c: where words go ---------------------------------------------------------------------------------- */

/* Room that a block may use between two checks, in bytes: its data words, and a run word. */
#define BLOCK_ROOM (16 * 1024)

/* At addresses that stay the same while the process lives, as they are in generated code. */
extern ct_ring* ring;

/* Another process is recorded: there is no ring then, and nothing is recorded here. */
void ring_open(const HChar* path);
/* Publishes the open chunk and takes a free one; waits for the reader. Called by generated code, too. */
void ring_next_chunk(void);
/* Room for a control of so many words: its first word is the highest; the next ones go downwards. NULL: nobody reads. */
ULong* ring_control(UInt kind, UInt words);
/* A control with these words and a text behind them (NULL: none). */
void ring_write(UInt kind, const ULong* words, UInt count, const HChar* text);
void ring_end(void);
void ring_in_child(void);

/* --- instrument.c ----------------------------------------------------------------------------------------------------- */
IRSB* instrument(VgCallbackClosure* closure, IRSB* block, const VexGuestLayout* layout, const VexGuestExtents* extents,
                 const VexArchInfo* host, IRType guest_word, IRType host_word);
/* Code that is not recorded: of the preload object. */
Bool is_own_code(Addr address);

/* --- events.c ------------------------------------------------------------------------------------------------------- */
void track_events(void);
Bool handle_request(ThreadId thread, UWord* arguments, UWord* result);
Bool recording(void);
/* Whether recording begins at the function whose first instruction is here. Where it does, generated code calls
   begin_recording(), and has all translations discarded. */
Bool begins_at(Addr address);
void begin_recording(void);

#endif
