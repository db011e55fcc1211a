// SPDX-License-Identifier: BSD-3-Clause
// The columns of a recording's tables (docs/format.md).
#pragma once

#include "probes/recording/recording.hpp"

namespace cachetally {

/// The columns of tables, each named once: `visit` gets the name and how to find the value in a row.
template <class Visit>
void columns_of_runs(Visit visit) {
    visit(
        "kind", [](auto& run) -> auto& { return run.kind; });
    visit(
        "end", [](auto& run) -> auto& { return run.end; });
    visit(
        "arena", [](auto& run) -> auto& { return run.arena; });
    visit(
        "string", [](auto& run) -> auto& { return run.string; });
    visit(
        "floating_point", [](auto& run) -> auto& { return run.floating_point; });
    visit(
        "warm_up", [](auto& run) -> auto& { return run.effort.warm_up; });
    visit(
        "laps", [](auto& run) -> auto& { return run.effort.laps; });
    visit(
        "least_cycles", [](auto& run) -> auto& { return run.effort.least_cycles; });
    visit(
        "cycles", [](auto& run) -> auto& { return run.measurement.cycles; });
    visit(
        "least", [](auto& run) -> auto& { return run.measurement.quantiles.least; });
    visit(
        "lower_quartile", [](auto& run) -> auto& { return run.measurement.quantiles.lower_quartile; });
    visit(
        "median", [](auto& run) -> auto& { return run.measurement.quantiles.median; });
    visit(
        "upper_quartile", [](auto& run) -> auto& { return run.measurement.quantiles.upper_quartile; });
    visit(
        "most", [](auto& run) -> auto& { return run.measurement.quantiles.most; });
    visit(
        "laps_made", [](auto& run) -> auto& { return run.measurement.laps; });
    visit(
        "samples", [](auto& run) -> auto& { return run.measurement.conditions.samples; });
    visit(
        "dropped", [](auto& run) -> auto& { return run.measurement.conditions.dropped; });
    visit(
        "context_switches", [](auto& run) -> auto& { return run.measurement.conditions.context_switches; });
    visit(
        "clock_ratio", [](auto& run) -> auto& { return run.measurement.conditions.clock_ratio; });
    visit(
        "disturbed", [](auto& run) -> auto& { return run.measurement.conditions.disturbed; });
    visit(
        "refusal", [](auto& run) -> auto& { return run.refusal; });
    visit(
        "cost_runs", [](auto& run) -> auto& { return run.cost.runs; });
    visit(
        "cost_references", [](auto& run) -> auto& { return run.cost.references; });
    visit(
        "cost_simulated", [](auto& run) -> auto& { return run.cost.simulated; });
    visit(
        "cost_cycles", [](auto& run) -> auto& { return run.cost.cycles; });
}

/// Of runs of several processors, or two chases; files without any do not have these.
template <class Visit>
void columns_of_others(Visit visit) {
    visit(
        "processor", [](auto& run) -> auto& { return run.processor; });
    visit(
        "other_processor", [](auto& run) -> auto& { return run.other_processor; });
    visit(
        "other_string", [](auto& run) -> auto& { return run.other_string; });
    visit(
        "parts", [](auto& run) -> auto& { return run.parts; });
    visit(
        "parts_used", [](auto& run) -> auto& { return run.used; });
}

/// Those that older files lack.
template <class Visit>
void columns_of_probes(Visit visit) {
    visit(
        "renewed", [](auto& run) -> auto& { return run.renewed; });
    visit(
        "touched", [](auto& run) -> auto& { return run.touched; });
}

/// Those that older files lack, whose runs are of one chain.
template <class Visit>
void later_columns_of_runs(Visit visit) {
    visit(
        "chains", [](auto& run) -> auto& { return run.chains; });
    visit(
        "stream", [](auto& run) -> auto& { return run.stream.kind; });
    visit(
        "stream_bytes", [](auto& run) -> auto& { return run.stream.bytes; });
}

/// Those of runs whose core another hardware thread used; files without any do not have these.
template <class Visit>
void columns_of_shared_cores(Visit visit) {
    visit(
        "core_shared", [](auto& run) -> auto& { return run.measurement.conditions.core_shared; });
}

template <class Visit>
void columns_of_arenas(Visit visit) {
    visit(
        "id", [](auto& made) -> auto& { return made.arena.id; });
    visit(
        "bytes", [](auto& made) -> auto& { return made.arena.bytes; });
    visit(
        "page", [](auto& made) -> auto& { return made.arena.page; });
    visit(
        "written", [](auto& made) -> auto& { return made.arena.written; });
    visit(
        "refusal", [](auto& made) -> auto& { return made.refusal; });
}

template <class Visit>
void columns_of_strings(Visit visit) {
    visit(
        "generator", [](auto& string) -> auto& { return string.recipe.generator; });
    visit(
        "seed", [](auto& string) -> auto& { return string.recipe.seed; });
    visit(
        "moved_by", [](auto& string) -> auto& { return string.recipe.moved_by; });
    visit(
        "line", [](auto& string) -> auto& { return string.recipe.line; });
    visit(
        "other_words", [](auto& string) -> auto& { return string.recipe.other_words; });
}

/// Of chases that store; files without any do not have these.
template <class Visit>
void columns_of_stores(Visit visit) {
    visit(
        "stores", [](auto& run) -> auto& { return run.stores; });
}

}  // namespace cachetally
