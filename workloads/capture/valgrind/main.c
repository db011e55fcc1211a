/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The capture tool of cachetally: options, begin and end. */
#include "pub_tool_basics.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_options.h"
#include "pub_tool_replacemalloc.h"

#include "tool.h"

Options options = {NULL, NULL, NULL, True, True, False, False, 12};

static Bool take_option(const HChar* argument) {
    if (VG_STR_CLO(argument, "--ring", options.ring)) {
    } else if (VG_STR_CLO(argument, "--program", options.program)) {
    } else if (VG_STR_CLO(argument, "--from", options.from)) {
    } else if (VG_BOOL_CLO(argument, "--heap", options.heap)) {
    } else if (VG_BOOL_CLO(argument, "--fetches", options.fetches)) {
    } else if (VG_BINT_CLO(argument, "--frames", options.frames, 1, 100)) {
    } else {
        return False;
    }
    return True;
}

static void print_usage(void) {
    VG_(printf)
    ("    --ring=FILE       where references go: shared memory that cachetally has made\n"
     "    --program=NAME    the first process that executes this program is recorded\n"
     "    --from=FUNCTION   nothing is recorded before this function is entered\n"
     "    --fetches=yes|no  code without data references is recorded, too [yes]\n"
     "    --heap=yes|no     allocations are reported [yes]\n"
     "    --frames=N        of the call stack of each allocation [12]\n");
}
static void print_debug_usage(void) {}

static Bool is_meant(void) {
    const HChar* const path = VG_(args_the_exename);
    const HChar* const name = VG_(strrchr)(path, '/');
    if (!options.program) return True;
    return VG_(strcmp)(options.program, path) == 0 || (name && VG_(strcmp)(options.program, name + 1) == 0);
}

static void begin(void) {
    if (!options.ring) {
        VG_(umsg)("cachetally: this tool is run by 'cachetally run -- PROGRAM'\n");
        VG_(exit)(2);
    }
    if (!is_meant()) return;
    ring_open(options.ring);
    ring_write(CT_BEGUN, NULL, 0, NULL);
}

static void end(Int status) {
    const ULong words[] = {(ULong)(UInt)status};
    ring_write(CT_EXITED, words, 1, NULL);
    ring_end();
}

static void register_tool(void) {
    VG_(details_name)("cachetally");
    VG_(details_version)(NULL);
    VG_(details_description)("memory references for the simulator of cache monitors");
    VG_(details_copyright_author)("The cachetally authors; GPL-2.0-or-later.");
    VG_(details_bug_reports_to)("the cachetally authors");
    VG_(details_avg_translation_sizeB)(400);
    VG_(basic_tool_funcs)(begin, instrument, end);
    VG_(needs_command_line_options)(take_option, print_usage, print_debug_usage);
    track_events();
}

VG_DETERMINE_INTERFACE_VERSION(register_tool)
