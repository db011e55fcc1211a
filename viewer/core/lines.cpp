// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/core/lines.hpp"

#include <cmath>

namespace cachetally {

AxisLines::AxisLines(AddressAxis axis, std::uint64_t unit) : axis_(std::move(axis)), unit_(unit), begins_{0} {
    for (const AxisStretch& stretch : axis_.stretches) {
        bases_.push_back(stretch.base - stretch.base % unit);
        const double lead = static_cast<double>(stretch.base % unit);
        begins_.push_back(begins_.back() +
                          static_cast<Number>(std::ceil((stretch.bytes + lead) / static_cast<double>(unit))));
    }
}

/// The last that begins at or before the address; the first if none does.
std::size_t AxisLines::stretch_before(std::uint64_t address) const {
    const auto behind =
        static_cast<std::size_t>(std::upper_bound(bases_.begin(), bases_.end(), address) - bases_.begin());
    return behind > 0 ? behind - 1 : 0;
}

std::optional<AxisLines::Number> AxisLines::line_of(std::uint64_t address) const {
    for (int tries = 0; tries < 2 && last_ < bases_.size(); ++tries) {
        const Number line = begins_[last_] + (address - bases_[last_]) / unit_;
        if (address >= bases_[last_] && line < begins_[last_ + 1]) return line;
        last_ = stretch_before(address);
    }
    return std::nullopt;
}

std::size_t AxisLines::stretch_of(Number line) const {
    if (last_ < bases_.size() && line >= begins_[last_] && line < begins_[last_ + 1]) return last_;
    return static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), line) - begins_.begin()) - 1;
}

double AxisLines::offset_of(Number line, std::size_t stretch) const {
    const AxisStretch& own = axis_.stretches[stretch];
    const double begin = own.start - static_cast<double>(own.base - bases_[stretch]);
    return begin + static_cast<double>((line - begins_[stretch]) * unit_);
}

std::pair<double, double> AxisLines::part_of(Number line, Number count) const {
    const std::size_t stretch = stretch_of(line);
    const auto& [base, bytes, start, rest] = axis_.stretches[stretch];
    const double offset = offset_of(line, stretch);
    return {std::max(offset, start), std::min(offset + static_cast<double>(count * unit_), start + bytes)};
}

AxisLines::Numbers AxisLines::range(double x0, double x1) const {
    Number first = count(), end = 0;
    for (std::size_t s = 0; s < bases_.size(); ++s) {
        const auto& [base, bytes, start, rest] = axis_.stretches[s];
        const double from = std::max(x0, start), to = std::min(x1, start + bytes);
        if (from >= to) continue;
        const double begin = start - static_cast<double>(base - bases_[s]), unit = static_cast<double>(unit_);
        first = std::min(first, begins_[s] + static_cast<Number>(std::floor((from - begin) / unit)));
        end = std::max(end, begins_[s] + static_cast<Number>(std::ceil((to - begin) / unit)));
    }
    return first < end ? Numbers{first, end} : Numbers{0, 0};
}

}  // namespace cachetally
