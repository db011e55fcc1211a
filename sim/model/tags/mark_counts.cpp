// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/batching/mark_counts.hpp"

#include "cachetally/filtered.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/model/tags/mark_counts.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cachetally::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

MarkCounts count_all_marks(std::span<const std::uint8_t> marks) {
    const hn::ScalableTag<std::uint8_t> tag;
    constexpr std::uint8_t kind_bits = 0xff & ~filter_mark::slot;
    const auto kinds = hn::Set(tag, kind_bits), retained = hn::Set(tag, filter_mark::retained),
               stores = hn::Set(tag, filter_mark::stores);
    MarkCounts counts;
    auto bits = hn::Zero(tag);
    std::size_t i = 0;
    for (; i + hn::Lanes(tag) <= marks.size(); i += hn::Lanes(tag)) {
        const auto some = hn::LoadU(tag, marks.data() + i), kind = hn::And(some, kinds);
        const auto is_retained = hn::Eq(kind, retained);
        counts.retained += hn::CountTrue(tag, is_retained);
        counts.stores += hn::CountTrue(tag, hn::Eq(kind, stores));
        counts.fetches += hn::CountTrue(tag, hn::Eq(kind, kinds));
        bits = hn::Or(bits, hn::IfThenElseZero(is_retained, some));
    }
    HWY_ALIGN std::uint8_t lanes[hn::MaxLanes(tag)];
    hn::Store(bits, tag, lanes);
    for (const std::uint8_t lane : lanes) counts.retained_bits |= lane;
    for (; i < marks.size(); ++i) {
        const std::uint8_t kind = marks[i] & kind_bits;
        counts.retained += kind == filter_mark::retained ? 1 : 0;
        counts.stores += kind == filter_mark::stores ? 1 : 0;
        counts.fetches += kind == filter_mark::fetches ? 1 : 0;
        if (kind == filter_mark::retained) counts.retained_bits |= marks[i];
    }
    return counts;
}

KindLanes count_all_kinds(std::span<const BlockEvent> requests) {
    const hn::ScalableTag<std::uint64_t> tag;
    const auto* const begin = reinterpret_cast<const std::uint64_t*>(requests.data());
    const auto one = hn::Set(tag, 1), kinds = hn::Set(tag, BlockEvent::alignment - 1);
    auto sums = hn::Zero(tag);
    std::size_t i = 0;
    for (; i + hn::Lanes(tag) <= requests.size(); i += hn::Lanes(tag))
        sums = hn::Add(sums, hn::Shl(one, hn::ShiftLeft<3>(hn::And(hn::LoadU(tag, begin + i), kinds))));
    KindLanes counts(hn::GetLane(hn::SumOfLanes(tag, sums)));
    for (; i < requests.size(); ++i) counts.add(static_cast<std::uint64_t>(requests[i].kind()), 1);
    return counts;
}

}  // namespace cachetally::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachetally {

HWY_EXPORT(count_all_marks);
HWY_EXPORT(count_all_kinds);

MarkCounts count_marks(std::span<const std::uint8_t> marks) { return HWY_DYNAMIC_DISPATCH(count_all_marks)(marks); }
KindLanes count_kinds(std::span<const BlockEvent> requests) { return HWY_DYNAMIC_DISPATCH(count_all_kinds)(requests); }

}  // namespace cachetally
#endif
