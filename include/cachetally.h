/* SPDX-License-Identifier: BSD-3-Clause */
/* cachetally.h: what a program may say to the capture of `cachetally run -- PROGRAM`. For C and C++; nothing to link.
   Without a capture a macro costs a few instructions that do nothing; with CACHETALLY_DISABLED defined, none at all.

     CACHETALLY_PHASE("solve")              a phase of the program begins: monitors swap out, tables have a further row
     CACHETALLY_REGION("A", a, bytes, 8)    a data structure: its first byte, length, and bytes of an element
     CACHETALLY_OFF(), CACHETALLY_ON()      references are left out, or recorded again
     CACHETALLY_BARRIER(&b, 4)              this thread was the last of 4 to arrive at a barrier of the program's own */
#ifndef CACHETALLY_H
#define CACHETALLY_H

enum cachetally_request {
    CACHETALLY_REQUEST_PHASE = 0x43540000, /* name */
    CACHETALLY_REQUEST_REGION,             /* address, bytes, bytes of an element, name */
    CACHETALLY_REQUEST_COLLECT,            /* 1 or 0 */
    CACHETALLY_REQUEST_BARRIER,            /* object, participants */
    CACHETALLY_REQUEST_ALLOCATED,          /* address, bytes; of the capture's own wrappers */
    CACHETALLY_REQUEST_RELEASED,           /* address; likewise */
    CACHETALLY_REQUEST_PARTICIPANTS,       /* barrier, number; likewise */
    CACHETALLY_REQUEST_ARRIVED             /* barrier, participants where they are known; likewise */
};

#if defined(CACHETALLY_DISABLED)
#define CACHETALLY_SAY(request, a, b, c, d) ((void)0)
#else

/* Of the compiled capture's runtime, where the program is linked with it. */
#ifdef __cplusplus
extern "C"
#endif
void cachetally_runtime_request(const unsigned long* words) __attribute__((weak));

/* Valgrind's client request: a sequence that changes nothing on a processor (valgrind.h, amd64). */
static inline void cachetally_say(unsigned long request, unsigned long a, unsigned long b, unsigned long c,
                                  unsigned long d) {
    const unsigned long words[6] = {request, a, b, c, d, 0};
#if defined(__x86_64__)
    unsigned long result = 0;
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
                     : "=d"(result)
                     : "a"(words), "0"(result)
                     : "cc", "memory");
    (void)result;
#endif
    if (cachetally_runtime_request) cachetally_runtime_request(words);
}
#define CACHETALLY_SAY(request, a, b, c, d)                                                                  \
    cachetally_say((request), (unsigned long)(a), (unsigned long)(b), (unsigned long)(c), (unsigned long)(d))
#endif

#define CACHETALLY_PHASE(name) CACHETALLY_SAY(CACHETALLY_REQUEST_PHASE, (name), 0, 0, 0)
#define CACHETALLY_REGION(name, address, bytes, element_bytes) \
    CACHETALLY_SAY(CACHETALLY_REQUEST_REGION, (address), (bytes), (element_bytes), (name))
#define CACHETALLY_ON() CACHETALLY_SAY(CACHETALLY_REQUEST_COLLECT, 1, 0, 0, 0)
#define CACHETALLY_OFF() CACHETALLY_SAY(CACHETALLY_REQUEST_COLLECT, 0, 0, 0, 0)
#define CACHETALLY_BARRIER(object, participants) \
    CACHETALLY_SAY(CACHETALLY_REQUEST_BARRIER, (object), (participants), 0, 0)

#endif
