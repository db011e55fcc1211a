// SPDX-License-Identifier: BSD-3-Clause
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

template <std::size_t count>
std::span<const std::string_view> table(const std::string_view (&names)[count]) {
    return {names, count};
}

}  // namespace

template <>
std::span<const std::string_view> names_of<Serves>() {
    static constexpr std::string_view names[] = {"data", "fetch", "both"};
    return table(names);
}
template <>
std::span<const std::string_view> names_of<EmptyWay>() {
    static constexpr std::string_view names[] = {"lowest", "policy"};
    return table(names);
}
template <>
std::span<const std::string_view> names_of<Inclusion>() {
    static constexpr std::string_view names[] = {"nine", "inclusive", "exclusive", "victim"};
    return table(names);
}
template <>
std::span<const std::string_view> names_of<WritePolicy>() {
    static constexpr std::string_view names[] = {"write_back", "write_through"};
    return table(names);
}
template <>
std::span<const std::string_view> names_of<WriteBackMiss>() {
    static constexpr std::string_view names[] = {"allocate", "fetch", "bypass"};
    return table(names);
}
template <>
std::span<const std::string_view> names_of<Mapping>() {
    static constexpr std::string_view names[] = {"identity", "contiguous", "random", "coloured"};
    return table(names);
}
template <>
std::span<const std::string_view> names_of<Protocol>() {
    static constexpr std::string_view names[] = {"none", "mesi", "moesi"};
    return table(names);
}
template <>
std::span<const std::string_view> names_of<CoherenceBy>() {
    static constexpr std::string_view names[] = {"snooping", "directory"};
    return table(names);
}
template <>
std::span<const std::string_view> names_of<HomePolicy>() {
    static constexpr std::string_view names[] = {"first_touch", "interleaved", "fixed"};
    return table(names);
}

}  // namespace cachetally
