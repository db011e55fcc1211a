#include "monitor/causes/line_numbers.hpp"

#include <bit>

namespace cachetally {

LineNumbers::LineNumbers(std::uint32_t line_bytes)
    : line_bits_(log2_exact(line_bytes)), places_(std::size_t{1} << 10) {}

std::uint32_t LineNumbers::look_up(Address line) {
    const std::uint32_t number = find_or_add(line);
    recent_[(line >> line_bits_) % recent_.size()] = {line, number};
    return number;
}

std::uint32_t LineNumbers::find_or_add(Address line) {
    Place* place = &place_of(line);
    if (place->number != none) return place->number;
    if (lines_.size() >= places_.size() / 2) {
        grow();
        place = &place_of(line);
    }
    place->number = static_cast<std::uint32_t>(lines_.size());
    lines_.push_back({.address = line});
    return place->number;
}

LineNumbers::Place& LineNumbers::place_of(Address line) {
    constexpr std::uint64_t within = (std::uint64_t{1} << group_bits) - 1;
    const std::uint64_t number = line >> line_bits_, mask = places_.size() - 1;
    const std::uint64_t hash = (number >> group_bits) * 0x9e3779b97f4a7c15U;
    const auto tag = static_cast<std::uint32_t>(hash >> 8 ^ number);
    std::uint64_t group = hash >> std::countl_zero(mask) & ~within;
    for (std::uint64_t tried = 0;; ++tried) {
        if (tried > within) {
            group = (group + within + 1) & mask;
            tried = 0;
        }
        Place& place = places_[group | ((number + tried) & within)];
        if (place.number == none) place.tag = tag;
        if (place.number == none || (place.tag == tag && lines_[place.number].address == line)) return place;
    }
}

void LineNumbers::grow() {
    std::vector<Place>(places_.size() * 2).swap(places_);
    for (std::uint32_t number = 0; number < lines_.size(); ++number) place_of(lines_[number].address).number = number;
}

}  // namespace cachetally
