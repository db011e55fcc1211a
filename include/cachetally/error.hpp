// SPDX-License-Identifier: BSD-3-Clause
// Errors whose messages are formatted.
#pragma once

#include <fmt/format.h>

#include <utility>

namespace cachetally {

/// An exception like `Base` whose message may also be given as a format and its values: Error("{} is no name", word).
template <class Base>
class Formatted : public Base {
public:
    using Base::Base;

    template <class First, class... Rest>
    Formatted(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest)
        : Base(fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
};

}  // namespace cachetally
