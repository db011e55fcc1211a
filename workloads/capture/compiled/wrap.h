/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of other libraries that the program calls: they do their work, and what they did is reported. The linker
   makes __wrap_F of each call of F, and __real_F is F (ld --wrap; wrap.options lists them). */
#ifndef CACHETALLY_CAPTURE_WRAP_H
#define CACHETALLY_CAPTURE_WRAP_H

#include "runtime.h"

#define REAL(result, name, ...)              \
    extern result __real_##name(__VA_ARGS__); \
    CT_EXPORT CT_WRAPPER result __wrap_##name(__VA_ARGS__)
/* Of a library that not every program is linked with. */
#define MAYBE(result, name, ...)                                    \
    extern result __real_##name(__VA_ARGS__) __attribute__((weak)); \
    CT_EXPORT CT_WRAPPER result __wrap_##name(__VA_ARGS__)

#endif
