/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happens besides references. */
#include "pub_tool_basics.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_transtab.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "../../../include/cachetally.h"
#include "tool.h"

static Bool is_recording = True;
static ThreadId running = VG_INVALID_THREADID;

static Bool has_begun = False;

Bool recording(void) { return is_recording && ring && (has_begun || !options.from); }

/* As that of workloads/traces/source_window.hpp, which looks into traces. */
static Bool is_function(const HChar* function) {
    const SizeT length = VG_(strlen)(options.from);
    Int depth = 0; /* of template arguments */
    const HChar* begin;
    if (length == 0) return False;
    for (begin = function; *begin; ++begin) {
        const Bool may_begin = begin == function || (begin[-1] == ' ' && depth == 0);
        if (may_begin && VG_(strncmp)(begin, options.from, length) == 0 &&
            (begin[length] == 0 || begin[length] == '(' || begin[length] == '<'))
            return True;
        if (*begin == '(') return False;
        depth += (*begin == '<') - (*begin == '>');
    }
    return False;
}

Bool begins_at(Addr address) {
    const HChar* name;
    if (!options.from || has_begun || !VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), address, &name)) return False;
    return is_function(name);
}

void begin_recording(void) {
    const ULong words[] = {2};
    has_begun = True;
    ring_write(CT_COLLECT, words, 1, NULL);
}

/* --- code of the preload object ------------------------------------------------------------------------------------- */

static Addr own_begin, own_end;

Bool is_own_code(Addr address) { return address >= own_begin && address < own_end; }

static void note_own_code(Addr address, SizeT bytes, const HChar* path) {
    if (!path || !VG_(strstr)(path, "vgpreload_cachetally")) return;
    if (own_end == 0 || address < own_begin) own_begin = address;
    if (address + bytes > own_end) own_end = address + bytes;
}

/* Of each thread, when it first runs. */
static void note_stack(ThreadId thread) {
    static Bool seen[4096];
    const Addr last = VG_(thread_get_stack_max)(thread);
    const ULong words[] = {thread, last + 1 - VG_(thread_get_stack_size)(thread), VG_(thread_get_stack_size)(thread)};
    if (thread >= 4096 || seen[thread]) return;
    seen[thread] = True;
    ring_write(CT_STACK, words, 3, NULL);
}

static void on_client_code(ThreadId thread, ULong blocks) {
    const ULong words[] = {thread};
    if (thread == running) return;
    running = thread;
    ring_write(CT_THREAD, words, 1, NULL);
    note_stack(thread);
}

static void on_thread_created(ThreadId parent, ThreadId child) {
    const ULong words[] = {parent, child};
    ring_write(CT_THREAD_CREATED, words, 2, NULL);
}

static void on_thread_ended(ThreadId thread) {
    const ULong words[] = {thread};
    ring_write(CT_THREAD_ENDED, words, 1, NULL);
}

static Bool is_of_libc(Addr counter) {
    const HChar* path = NULL;
    return VG_(get_objname)(VG_(current_DiEpoch)(), counter, &path) &&
           (VG_(strstr)(path, "/libc.so") || VG_(strstr)(path, "/ld-linux"));
}

/* Of memory that is no file's. What libc maps for purposes of its own, such as arenas of malloc, is no structure of the
   program. */
static void note_mapper(Addr address, SizeT bytes) {
    ULong words[3 + 100];
    Addr stack[100];
    const ThreadId thread = VG_(get_running_tid)();
    UInt frames, i;
    if (!options.heap || !ring || thread == VG_INVALID_THREADID) return;
    frames = VG_(get_StackTrace)(thread, stack, options.frames < 2 ? 2 : options.frames, NULL, NULL, 0);
    if (frames > 1 && is_of_libc(stack[0]) && is_of_libc(stack[1])) return;
    words[0] = address;
    words[1] = bytes;
    words[2] = frames;
    for (i = 0; i < frames; ++i) words[3 + i] = stack[i];
    ring_write(CT_MAPPED_BY, words, 3 + frames, NULL);
}

static void on_map(Addr address, SizeT bytes, Bool readable, Bool writable, Bool executable, ULong debug_handle) {
    const NSegment* segment = ring ? VG_(am_find_nsegment)(address) : NULL;
    const HChar* path = segment ? VG_(am_get_filename)(segment) : NULL;
    const ULong words[] = {address, bytes, (readable ? 4u : 0u) | (writable ? 2u : 0u) | (executable ? 1u : 0u),
                           segment && path ? (ULong)segment->offset + (address - segment->start) : 0};
    note_own_code(address, bytes, path);
    ring_write(CT_MAPPED, words, 4, path ? path : "");
}

static void on_mmap(Addr address, SizeT bytes, Bool readable, Bool writable, Bool executable, ULong debug_handle) {
    const NSegment* segment = ring ? VG_(am_find_nsegment)(address) : NULL;
    on_map(address, bytes, readable, writable, executable, debug_handle);
    if (segment && !VG_(am_get_filename)(segment)) note_mapper(address, bytes);
}

static void on_unmap(Addr address, SizeT bytes) {
    const ULong words[] = {address, bytes};
    ring_write(CT_UNMAPPED, words, 2, NULL);
}

static void on_break(Addr address, SizeT bytes, ThreadId thread) {
    const ULong words[] = {address, bytes};
    ring_write(CT_BREAK, words, 2, NULL);
}

static void on_signal(ThreadId thread, Int number, Bool alternate_stack) {
    const ULong words[] = {number, VG_(get_IP)(thread)};
    ring_write(CT_SIGNAL, words, 2, NULL);
}

/* Whether the other program is captured, too, or the call fails: the ring is complete until here. */
static void on_call(ThreadId thread, UInt number, UWord* arguments, UInt count) {
    if (!ring || number != __NR_execve) return;
    ring_write(CT_EXECUTED, NULL, 0, (const HChar*)arguments[0]);
    ring_next_chunk();
}
static void on_return(ThreadId thread, UInt number, UWord* arguments, UInt count, SysRes result) {
    if (ring && number == __NR_execve) ring_write(CT_EXECUTED, NULL, 0, "");
}

static void on_fork_in_parent(ThreadId thread) {
    const ULong words[] = {0};
    ring_write(CT_FORKED, words, 1, NULL);
}
static void on_fork_in_child(ThreadId thread) { ring_in_child(); }

/* --- requests ------------------------------------------------------------------------------------------------------- */

/* Translations have the stores in them, or have not. */
static void set_recording(Bool on) {
    const ULong words[] = {on};
    if (on == is_recording) return;
    is_recording = on;
    ring_write(CT_COLLECT, words, 1, NULL);
    VG_(discard_translations_safely)(0x1000, ~0ul - 0x2000, "cachetally");
}

static void on_allocation(ThreadId thread, Addr block, SizeT bytes) {
    ULong words[3 + 100];
    Addr stack[101];
    UInt frames, i, first;
    if (!options.heap) return;
    frames = VG_(get_StackTrace)(thread, stack, options.frames + 1, NULL, NULL, 0);
    first = frames > 1 && is_own_code(stack[0]) ? 1 : 0;
    words[0] = block;
    words[1] = bytes;
    words[2] = frames - first;
    for (i = first; i < frames; ++i) words[3 + i - first] = stack[i];
    ring_write(CT_ALLOCATED, words, 3 + frames - first, NULL);
}

/* Barriers whose threads have not all arrived. */
static struct { Addr object; UWord participants, arrived; } barriers[256];

static void note_participants(Addr object, UWord participants) {
    UInt i, place = 0;
    for (i = 0; i < 256; ++i) {
        if (barriers[i].object == object) { place = i; break; }
        if (barriers[i].object == 0) place = i;
    }
    barriers[place].object = object;
    barriers[place].participants = participants;
    barriers[place].arrived = 0;
}

static void on_arrival(Addr object, UWord participants) {
    UInt i;
    for (i = 0; i < 256 && barriers[i].object != object; ++i) {}
    if (i == 256) {
        if (participants == 0) return;
        note_participants(object, participants);
        on_arrival(object, participants);
        return;
    }
    if (participants != 0) barriers[i].participants = participants;
    if (++barriers[i].arrived < barriers[i].participants) return;
    {
        const ULong words[] = {object, barriers[i].participants};
        barriers[i].arrived = 0;
        ring_write(CT_BARRIER, words, 2, NULL);
    }
}

/* What a program names; "" where it cannot be read: a wrong address is no reason to end the program. Longer texts than
   phases and regions have are cut. */
static const HChar* client_text(Addr address) {
    static HChar text[4096];
    UInt length;
    for (length = 0; length + 1 < sizeof text; ++length) {
        const Addr at = address + length;
        if ((length == 0 || at % VKI_PAGE_SIZE == 0) && !VG_(am_is_valid_for_client)(at, 1, VKI_PROT_READ)) break;
        text[length] = *(const HChar*)at;
        if (text[length] == 0) return text;
    }
    text[length] = 0;
    return text;
}

Bool handle_request(ThreadId thread, UWord* arguments, UWord* result) {
    const ULong words[] = {arguments[1], arguments[2], arguments[3]};
    *result = 0;
    switch (arguments[0]) {
        case CACHETALLY_REQUEST_PHASE: ring_write(CT_PHASE, NULL, 0, client_text(arguments[1])); return True;
        case CACHETALLY_REQUEST_REGION: ring_write(CT_REGION, words, 3, client_text(arguments[4])); return True;
        case CACHETALLY_REQUEST_COLLECT: set_recording(arguments[1] != 0); return True;
        case CACHETALLY_REQUEST_BARRIER: ring_write(CT_BARRIER, words, 2, NULL); return True;
        case CACHETALLY_REQUEST_ALLOCATED: on_allocation(thread, arguments[1], arguments[2]); return True;
        case CACHETALLY_REQUEST_RELEASED:
            if (options.heap) ring_write(CT_RELEASED, words, 1, NULL);
            return True;
        case CACHETALLY_REQUEST_PARTICIPANTS: note_participants(arguments[1], arguments[2]); return True;
        case CACHETALLY_REQUEST_ARRIVED: on_arrival(arguments[1], arguments[2]); return True;
        default: return False;
    }
}

void track_events(void) {
    VG_(needs_client_requests)(handle_request);
    VG_(needs_syscall_wrapper)(on_call, on_return);
    VG_(track_start_client_code)(on_client_code);
    VG_(track_pre_thread_ll_create)(on_thread_created);
    VG_(track_pre_thread_ll_exit)(on_thread_ended);
    VG_(track_new_mem_startup)(on_map);
    VG_(track_new_mem_mmap)(on_mmap);
    VG_(track_die_mem_munmap)(on_unmap);
    VG_(track_new_mem_brk)(on_break);
    VG_(track_pre_deliver_signal)(on_signal);
    VG_(atfork)(NULL, on_fork_in_parent, on_fork_in_child);
}
