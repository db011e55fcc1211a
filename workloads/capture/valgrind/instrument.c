/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stores of data words and run words beside the program's own code. */
#include "pub_tool_basics.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "libvex_guest_amd64.h"

#include "tool.h"

enum { MOST_INSTRUCTIONS = 1024, MOST_DATA = 4096, MOST_EXITS = 1024, WORDS_BETWEEN_CHECKS = BLOCK_ROOM / 8 - 64 };

/* A piece of a superblock: from a check for room to the next, or to its end. It is a block of the ring. */
typedef struct {
    IRSB* out;
    IRTemp data, runs; /* the ring's, as they were at the check */
    ULong instructions[MOST_INSTRUCTIONS], words[MOST_DATA], exits[MOST_EXITS];
    UInt instruction_count, word_count, exit_count;
    UInt stored_words; /* as ring->data knows them */
    UInt first_exit;
    Bool open;
} Piece;

static Piece piece;
static UInt next_exit = 1;

static IRExpr* constant(ULong value) { return IRExpr_Const(IRConst_U64(value)); }
static IRExpr* address_of_field(const void* field) { return constant((ULong)field); }

static IRTemp assign(IRType type, IRExpr* value) {
    const IRTemp temporary = newIRTemp(piece.out->tyenv, type);
    addStmtToIRSB(piece.out, IRStmt_WrTmp(temporary, value));
    return temporary;
}
static void store(IRExpr* address, IRExpr* value) {
    addStmtToIRSB(piece.out, IRStmt_Store(Iend_LE, address, value));
}
static IRTemp load(const void* field) {
    return assign(Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, address_of_field(field)));
}
static IRExpr* plus(IRTemp base, Long offset) {
    if (offset == 0) return IRExpr_RdTmp(base);
    return IRExpr_RdTmp(assign(Ity_I64, IRExpr_Binop(Iop_Add64, IRExpr_RdTmp(base), constant((ULong)offset))));
}

/* Room for the words of a piece. */
static void check_room(void) {
    const IRTemp data = load(&ring->data), runs = load(&ring->runs);
    const IRTemp room = assign(Ity_I64, IRExpr_Binop(Iop_Sub64, IRExpr_RdTmp(runs), IRExpr_RdTmp(data)));
    const IRTemp full = assign(Ity_I1, IRExpr_Binop(Iop_CmpLT64U, IRExpr_RdTmp(room), constant(BLOCK_ROOM)));
    IRDirty* call = unsafeIRDirty_0_N(0, "ring_next_chunk", VG_(fnptr_to_fnentry)(&ring_next_chunk),
                                      mkIRExprVec_0());
    call->guard = IRExpr_RdTmp(full);
    addStmtToIRSB(piece.out, IRStmt_Dirty(call));
    piece.data = load(&ring->data);
    piece.runs = load(&ring->runs);
}

static void open_piece(void) {
    piece.instruction_count = piece.word_count = piece.exit_count = piece.stored_words = 0;
    piece.first_exit = next_exit;
    piece.open = True;
    check_room();
}

/* The program may leave here: the run word, and as many data words as there are. */
static void add_exit(void) {
    if (!piece.open) return;
    tl_assert(piece.exit_count < MOST_EXITS);
    store(plus(piece.runs, -8), constant(next_exit));
    if (piece.exit_count == 0) store(address_of_field(&ring->runs), plus(piece.runs, -8));
    if (piece.stored_words != piece.word_count)
        store(address_of_field(&ring->data), plus(piece.data, 8 * (Long)piece.word_count));
    piece.stored_words = piece.word_count;
    piece.exits[piece.exit_count++] = piece.word_count | (ULong)piece.instruction_count << 32;
    ++next_exit;
}

/* What the piece is, for the reader, before it runs for the first time. */
static void describe_piece(Addr address) {
    const UInt count = 3 + piece.instruction_count + piece.word_count + piece.exit_count;
    static ULong words[3 + MOST_INSTRUCTIONS + MOST_DATA + MOST_EXITS];
    UInt at = 3;
    words[0] = address;
    words[1] = piece.first_exit | (ULong)piece.exit_count << 32;
    words[2] = piece.instruction_count | (ULong)piece.word_count << 32;
    VG_(memcpy)(words + at, piece.instructions, 8 * piece.instruction_count);
    at += piece.instruction_count;
    VG_(memcpy)(words + at, piece.words, 8 * piece.word_count);
    at += piece.word_count;
    VG_(memcpy)(words + at, piece.exits, 8 * piece.exit_count);
    ring_write(CT_BLOCK, words, count, NULL);
}

static void close_piece(void) {
    if (!piece.open) return;
    add_exit();
    if (piece.instruction_count != 0 || piece.word_count != 0)
        describe_piece(piece.instruction_count ? piece.instructions[0] & 0xffffffffffffffull : 0);
    piece.open = False;
}

static void add_instruction(Addr address, UInt length) {
    if (piece.open && (piece.word_count > WORDS_BETWEEN_CHECKS || piece.instruction_count == MOST_INSTRUCTIONS ||
                       piece.exit_count + 64 > MOST_EXITS))
        close_piece();
    if (!piece.open) open_piece();
    piece.instructions[piece.instruction_count++] = address | (ULong)length << 56;
}

/* One data word; `guard` NULL: always. */
static void add_word(IRExpr* address, UInt offset, UInt size, Bool is_store, Bool atomic, IRExpr* guard) {
    const ULong properties = (ULong)(size - 1) << CT_SIZE_SHIFT | (is_store ? CT_STORE : 0) | (atomic ? CT_ATOMIC : 0);
    IRExpr* value = address;
    if (offset != 0)
        value = IRExpr_RdTmp(assign(Ity_I64, IRExpr_Binop(Iop_Add64, value, constant(offset))));
    if (properties != 0)
        value = IRExpr_RdTmp(assign(Ity_I64, IRExpr_Binop(Iop_Or64, value, constant(properties))));
    if (guard) value = IRExpr_RdTmp(assign(Ity_I64, IRExpr_ITE(guard, value, constant(CT_NO_REFERENCE))));
    store(plus(piece.data, 8 * (Long)piece.word_count), value);
    tl_assert(piece.word_count < MOST_DATA && piece.instruction_count != 0);
    piece.words[piece.word_count++] =
        (piece.instruction_count - 1) | (ULong)size << 16 | (ULong)(is_store ? 1 : 0) << 32;
}

static void add_reference(IRExpr* address, UInt size, Bool is_store, Bool atomic, IRExpr* guard) {
    UInt offset;
    if (!piece.open) return;
    for (offset = 0; offset < size; offset += CT_MOST_SIZE) {
        const UInt left = size - offset;
        add_word(address, offset, left < CT_MOST_SIZE ? left : CT_MOST_SIZE, is_store, atomic, guard);
    }
}

static void add_references_of(IRStmt* statement, const IRTypeEnv* types) {
    switch (statement->tag) {
        case Ist_WrTmp:
            if (statement->Ist.WrTmp.data->tag == Iex_Load)
                add_reference(statement->Ist.WrTmp.data->Iex.Load.addr,
                              sizeofIRType(statement->Ist.WrTmp.data->Iex.Load.ty), False, False, NULL);
            break;
        case Ist_Store:
            add_reference(statement->Ist.Store.addr, sizeofIRType(typeOfIRExpr(types, statement->Ist.Store.data)), True,
                          False, NULL);
            break;
        case Ist_StoreG: {
            IRStoreG* guarded = statement->Ist.StoreG.details;
            add_reference(guarded->addr, sizeofIRType(typeOfIRExpr(types, guarded->data)), True, False, guarded->guard);
            break;
        }
        case Ist_LoadG: {
            IRLoadG* guarded = statement->Ist.LoadG.details;
            IRType type = Ity_INVALID, widened = Ity_INVALID;
            typeOfIRLoadGOp(guarded->cvt, &widened, &type);
            add_reference(guarded->addr, sizeofIRType(type), False, False, guarded->guard);
            break;
        }
        case Ist_CAS: {
            IRCAS* cas = statement->Ist.CAS.details;
            const UInt size = sizeofIRType(typeOfIRExpr(types, cas->dataLo)) * (cas->dataHi ? 2 : 1);
            add_reference(cas->addr, size, False, True, NULL);
            add_reference(cas->addr, size, True, True, NULL);
            break;
        }
        case Ist_Dirty: {
            IRDirty* dirty = statement->Ist.Dirty.details;
            if (dirty->mFx == Ifx_Read || dirty->mFx == Ifx_Modify)
                add_reference(dirty->mAddr, dirty->mSize, False, False, NULL);
            if (dirty->mFx == Ifx_Write || dirty->mFx == Ifx_Modify)
                add_reference(dirty->mAddr, dirty->mSize, True, False, NULL);
            break;
        }
        default: break;
    }
}

static Bool has_memory_effect(const IRStmt* statement) {
    switch (statement->tag) {
        case Ist_WrTmp: return statement->Ist.WrTmp.data->tag == Iex_Load;
        case Ist_Store:
        case Ist_StoreG:
        case Ist_LoadG:
        case Ist_CAS: return True;
        case Ist_Dirty: return statement->Ist.Dirty.details->mFx != Ifx_None;
        default: return False;
    }
}

static Bool is_worth_recording(const IRSB* block) {
    Int i;
    for (i = 0; i < block->stmts_used; ++i) {
        const IRStmt* statement = block->stmts[i];
        if (!statement) continue;
        if (statement->tag == Ist_IMark && is_own_code(statement->Ist.IMark.addr)) return False;
        if (options.fetches ? statement->tag == Ist_IMark : has_memory_effect(statement)) return True;
    }
    return False;
}

static void put_in_state(Int offset, ULong value) { addStmtToIRSB(piece.out, IRStmt_Put(offset, constant(value))); }

/* The function comes again, after all code was forgotten that does not record. */
static void end_where_it_begins(Addr function, Bool is_first) {
    piece.out->next = constant(function);
    piece.out->jumpkind = Ijk_Boring;
    if (!is_first) return;
    addStmtToIRSB(piece.out, IRStmt_Dirty(unsafeIRDirty_0_N(0, "begin_recording", VG_(fnptr_to_fnentry)(&begin_recording),
                                                            mkIRExprVec_0())));
    put_in_state(offsetof(VexGuestAMD64State, guest_CMSTART), 0x1000);
    put_in_state(offsetof(VexGuestAMD64State, guest_CMLEN), ~0ul - 0x2000);
    piece.out->jumpkind = Ijk_InvalICache;
}

/* A block before recording begins. */
static IRSB* without_recording(IRSB* block) {
    Int i;
    Bool is_first = True;
    piece.out = deepCopyIRSBExceptStmts(block);
    for (i = 0; i < block->stmts_used; ++i) {
        IRStmt* statement = block->stmts[i];
        if (statement->tag == Ist_IMark) {
            if (begins_at(statement->Ist.IMark.addr)) {
                if (is_first) addStmtToIRSB(piece.out, statement);
                end_where_it_begins(statement->Ist.IMark.addr, is_first);
                break;
            }
            is_first = False;
        }
        addStmtToIRSB(piece.out, statement);
    }
    return piece.out;
}

IRSB* instrument(VgCallbackClosure* closure, IRSB* block, const VexGuestLayout* layout, const VexGuestExtents* extents,
                 const VexArchInfo* host, IRType guest_word, IRType host_word) {
    Int i;
    if (!recording()) return options.from ? without_recording(block) : block;
    if (!is_worth_recording(block)) return block;
    piece.out = deepCopyIRSBExceptStmts(block);
    piece.open = False;
    for (i = 0; i < block->stmts_used; ++i) {
        IRStmt* statement = block->stmts[i];
        if (!statement || statement->tag == Ist_NoOp) continue;
        if (statement->tag == Ist_IMark) {
            addStmtToIRSB(piece.out, statement);
            add_instruction(statement->Ist.IMark.addr, statement->Ist.IMark.len);
            continue;
        }
        if (statement->tag == Ist_Exit) add_exit();
        add_references_of(statement, block->tyenv);
        addStmtToIRSB(piece.out, statement);
    }
    close_piece();
    return piece.out;
}
