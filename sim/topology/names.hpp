// SPDX-License-Identifier: BSD-3-Clause
// The names of enumerations in machine files.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cachetally/machine.hpp"

namespace cachetally {

/// The names of an enumeration's values, in order.
template <class Enum>
std::span<const std::string_view> names_of();
template <>
std::span<const std::string_view> names_of<Serves>();
template <>
std::span<const std::string_view> names_of<Replacement>();
template <>
std::span<const std::string_view> names_of<EmptyWay>();
template <>
std::span<const std::string_view> names_of<Indexing>();
template <>
std::span<const std::string_view> names_of<Inclusion>();
template <>
std::span<const std::string_view> names_of<WritePolicy>();
template <>
std::span<const std::string_view> names_of<WriteBackMiss>();
template <>
std::span<const std::string_view> names_of<PrefetchKind>();
template <>
std::span<const std::string_view> names_of<Mapping>();
template <>
std::span<const std::string_view> names_of<Protocol>();
template <>
std::span<const std::string_view> names_of<CoherenceBy>();
template <>
std::span<const std::string_view> names_of<HomePolicy>();

template <class Enum>
std::string_view name_of(Enum value) {
    return names_of<Enum>()[static_cast<std::size_t>(value)];
}

}  // namespace cachetally
