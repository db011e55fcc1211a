/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CACHETALLY_CAPTURE_CHUNKS_H
#define CACHETALLY_CAPTURE_CHUNKS_H

#include "runtime.h"

/* 0: there is no such ring, or another process writes into it. */
int ct_open_ring(const char* path);
int ct_reader_is_gone(void);
void ct_ring_ended(void);

/* The begin of a chunk, empty; where it is patient, waits for the reader and calls `between` now and then. NULL: the
   reader is gone, or all chunks are with threads that do not fill them. */
uint64_t* ct_take_chunk(unsigned thread, int patient, void (*between)(void));
void ct_publish_chunk(uint64_t* begin);

#endif
