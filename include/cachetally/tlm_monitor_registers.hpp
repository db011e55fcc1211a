// SPDX-License-Identifier: BSD-3-Clause
// Offsets of the registers of TlmMonitor, 32 bits each. Stands alone.
#pragma once

#include <cstdint>

namespace cachetally {

/// Read and written whole, or two neighbours as 64 bits.
namespace tlm_monitor_register {
inline constexpr std::uint64_t id = 0x00;           ///< read: 0x43544d31
inline constexpr std::uint64_t control = 0x04;      ///< bit 0 on, bit 1 interrupt enabled, bit 2 software reads
inline constexpr std::uint64_t command = 0x08;      ///< write 1: barrier
inline constexpr std::uint64_t status = 0x0c;       ///< bit 0 watermark, bit 1 records lost, bit 2 a write failed;
                                                    ///< writing 1 to bits 1 and 2 clears them; bit 3 busy: records of
                                                    ///< a barrier are on their way
inline constexpr std::uint64_t kinds = 0x10;        ///< bit 0 reads, bit 1 writes are counted
inline constexpr std::uint64_t granularity = 0x14;  ///< bits 0-15 amount; bits 16-17: 0 aligned, 1 mask, 2 dynamic
inline constexpr std::uint64_t watermark = 0x18;    ///< records, at most ring_size; 0: no interrupt
inline constexpr std::uint64_t ring_size = 0x1c;    ///< records; writing empties the ring
inline constexpr std::uint64_t ring_base = 0x20;    ///< 64 bits, low word first; writing empties the ring
inline constexpr std::uint64_t head = 0x28;       ///< read: records written, modulo 2^32; place: head modulo ring_size
inline constexpr std::uint64_t tail = 0x2c;       ///< records read, modulo 2^32
inline constexpr std::uint64_t events = 0x30;     ///< read, 64 bits
inline constexpr std::uint64_t lost = 0x38;       ///< read, 64 bits: events of lost records
inline constexpr std::uint64_t phase = 0x40;      ///< read
inline constexpr std::uint64_t ranges_on = 0x44;  ///< bit i: filter i is in force; none: all addresses count
inline constexpr std::uint64_t ranges = 0x80;     ///< 8 filters of 16 bytes: from and to, 64 bits each
inline constexpr std::uint64_t end = 0x100;
inline constexpr std::uint32_t identity = 0x43544d31;
}  // namespace tlm_monitor_register

}  // namespace cachetally
