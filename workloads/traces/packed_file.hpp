// SPDX-License-Identifier: BSD-3-Clause
// The names in a packed trace file, shared by its reader and writer; docs/traces.md describes them.
#pragma once

#include <cstdint>

namespace cachetally::packed_names {

inline constexpr char group[] = "trace";
inline constexpr char blocks[] = "blocks";
inline constexpr char index[] = "index";
inline constexpr char index_core[] = "core";
inline constexpr char index_offset[] = "offset";
inline constexpr char index_bytes[] = "bytes";
inline constexpr char index_references[] = "references";
inline constexpr char core_references[] = "core_references";
inline constexpr char regions[] = "regions";
inline constexpr char functions[] = "functions";
inline constexpr char phase_names[] = "phase_names";
inline constexpr char sites[] = "sites";
inline constexpr char code[] = "code";
inline constexpr char objects[] = "objects";
inline constexpr char fields[] = "fields";
inline constexpr char object_blocks[] = "object_blocks";

inline constexpr char format_attribute[] = "format";
inline constexpr char format_text[] = "cachetally packed trace";
inline constexpr char version_attribute[] = "version";
inline constexpr std::uint64_t version = 3;
inline constexpr char cores_attribute[] = "cores";
inline constexpr char fetches_attribute[] = "fetches";

}  // namespace cachetally::packed_names
