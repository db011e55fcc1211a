// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/capture/struct_types.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace cachetally {
namespace {

constexpr std::uint64_t most_fields = 4096, most_elements = 16;
constexpr unsigned most_names = 4;

std::string name_of(Dwarf_Die& die) {
    const char* const name = dwarf_diename(&die);
    return name != nullptr ? name : "";
}

bool is_struct(Dwarf_Die& die) {
    const int tag = dwarf_tag(&die);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

std::optional<Dwarf_Die> type_of(Dwarf_Die& die) {
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    if (dwarf_attr_integrate(&die, DW_AT_type, &attribute) == nullptr ||
        dwarf_formref_die(&attribute, &type) == nullptr)
        return std::nullopt;
    return type;
}

std::optional<std::uint64_t> number_of(Dwarf_Die& die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_attr_integrate(&die, name, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0)
        return std::nullopt;
    return value;
}

std::uint64_t size_of(Dwarf_Die& type) {
    Dwarf_Word bytes = 0;
    return dwarf_aggregate_size(&type, &bytes) == 0 ? bytes : 0;
}

/// A type behind names and qualifiers, and, where it is an array, that of its elements.
struct Peeled {
    Dwarf_Die type;
    std::string name;  ///< by which it is known
    bool array = false;
};

std::optional<Peeled> peeled(Dwarf_Die type) {
    Peeled found{type, name_of(type)};
    while (true) {
        switch (dwarf_tag(&found.type)) {
            case DW_TAG_array_type: found.array = true; break;
            case DW_TAG_typedef:
            case DW_TAG_const_type:
            case DW_TAG_volatile_type:
            case DW_TAG_restrict_type:
            case DW_TAG_atomic_type: break;
            default: return found;
        }
        const auto next = type_of(found.type);
        if (!next) return std::nullopt;
        found.type = *next;
        if (std::string name = name_of(found.type); !name.empty()) found.name = std::move(name);
    }
}

/// Appends the lengths of an array's dimensions as its elements lie, the first one outermost; 0: unknown.
void add_lengths(Dwarf_Die& array, std::vector<std::uint64_t>& lengths) {
    Dwarf_Die unit, child;
    Dwarf_Sword default_lower = 0;
    const int language = dwarf_diecu(&array, &unit, nullptr, nullptr) == nullptr ? -1 : dwarf_srclang(&unit);
    if (language >= 0) dwarf_default_lower_bound(language, &default_lower);
    const auto outer = static_cast<std::ptrdiff_t>(lengths.size());
    if (dwarf_child(&array, &child) != 0) return;
    do {
        if (dwarf_tag(&child) != DW_TAG_subrange_type) continue;
        const auto upper = number_of(child, DW_AT_upper_bound), count = number_of(child, DW_AT_count);
        const auto lower = number_of(child, DW_AT_lower_bound).value_or(static_cast<std::uint64_t>(default_lower));
        lengths.push_back(count ? *count : upper ? *upper - lower + 1 : 0);
    } while (dwarf_siblingof(&child, &child) == 0);
    const bool by_columns = language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 ||
                            language == DW_LANG_Fortran95 || language == DW_LANG_Fortran03 ||
                            language == DW_LANG_Fortran08;
    if (by_columns) std::reverse(lengths.begin() + outer, lengths.end());
}

/// The array that a std::array is.
std::optional<Dwarf_Die> array_within(Dwarf_Die& type) {
    Dwarf_Die child;
    if (!is_struct(type) || !name_of(type).starts_with("array<") || dwarf_child(&type, &child) != 0)
        return std::nullopt;
    do {
        if (dwarf_tag(&child) == DW_TAG_member) return type_of(child);
    } while (dwarf_siblingof(&child, &child) == 0);
    return std::nullopt;
}

/// Collects the fields of a struct.
class Fields {
public:
    void add(Dwarf_Die& type, std::uint64_t base, const std::string& prefix) {
        Dwarf_Die child;
        if (dwarf_child(&type, &child) != 0) return;
        do {
            const int tag = dwarf_tag(&child);
            const auto bits = number_of(child, DW_AT_data_bit_offset);
            const auto place = bits ? std::optional(*bits / 8) : number_of(child, DW_AT_data_member_location);
            if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && place && fields_.size() < most_fields)
                add_member(child, base + *place, prefix, tag == DW_TAG_inheritance);
        } while (dwarf_siblingof(&child, &child) == 0);
    }

    StructLayout layout(std::uint64_t bytes, const std::string& name) {
        StructLayout layout{bytes, {}};
        std::ranges::stable_sort(fields_, {}, &Field::offset);
        std::uint64_t end = 0;
        unsigned shared = 0;  ///< further ones in the place of the last field
        const auto pad = [&](std::uint64_t until) {
            if (until > end) layout.fields.push_back({end, name + ".(padding)"});
        };
        for (const Field& field : fields_) {
            if (!layout.fields.empty() && field.offset < end) {  // bit fields of one byte, and what overlaps
                if (++shared < most_names)
                    layout.fields.back().name += "|" + field.name.substr(field.name.rfind('.') + 1);
                if (shared == most_names) layout.fields.back().name += "|...";
                end = std::max(end, field.offset + field.bytes);
                continue;
            }
            pad(field.offset);
            shared = 0;
            layout.fields.push_back({field.offset, name + "." + field.name});
            end = field.offset + std::max<std::uint64_t>(field.bytes, 1);
        }
        pad(bytes);
        return layout;
    }

private:
    struct Field {
        std::uint64_t offset, bytes;
        std::string name;
    };

    void add_member(Dwarf_Die& member, std::uint64_t offset, const std::string& prefix, bool base_class) {
        const auto declared = type_of(member);
        auto type = declared ? peeled(*declared) : std::nullopt;
        if (!type) return;
        Dwarf_Die whole = *declared;
        const std::uint64_t bytes = size_of(whole), each = size_of(type->type);
        const std::string name = name_of(member);
        const std::uint64_t count = each == 0 ? 0 : bytes / each;
        if (is_struct(type->type) && (!type->array || count <= most_elements)) {
            const bool anonymous = base_class || name.empty();
            for (std::uint64_t i = 0; i < count; ++i)
                add(type->type, offset + i * each, anonymous ? prefix : prefix + name + (type->array ? "[]." : "."));
        } else if (bytes != 0) {
            fields_.push_back({offset, bytes, prefix + (name.empty() ? names_within(type->type) : name)});
        }
    }

    /// Of a union that has no name of its own.
    static std::string names_within(Dwarf_Die& type) {
        std::string names;
        Dwarf_Die child;
        if (dwarf_child(&type, &child) != 0) return "(anonymous)";
        do {
            const std::string name = name_of(child);
            if (dwarf_tag(&child) == DW_TAG_member && !name.empty()) names += (names.empty() ? "" : "|") + name;
        } while (dwarf_siblingof(&child, &child) == 0);
        return names.empty() ? "(anonymous)" : names;
    }

    std::vector<Field> fields_;
};

std::optional<StructLayout> layout_of(Dwarf_Die die) {
    auto type = peeled(die);
    if (!type || !is_struct(type->type)) return std::nullopt;
    const std::uint64_t bytes = size_of(type->type);
    if (bytes == 0) return std::nullopt;
    Fields fields;
    fields.add(type->type, 0, "");
    StructLayout layout = fields.layout(bytes, type->name.empty() ? "(anonymous)" : type->name);
    return layout.fields.size() > 1 ? std::optional(layout) : std::nullopt;
}

}  // namespace

StructTypes::StructTypes(std::span<Dwfl_Module* const> modules) {
    for (Dwfl_Module* const module : modules) {
        Dwarf_Addr bias = 0;
        for (Dwarf_Die* unit = dwfl_module_nextcu(module, nullptr, &bias); unit != nullptr;
             unit = dwfl_module_nextcu(module, unit, &bias))
            walk(*unit, "", bias);
    }
}

/// Variables are also within functions.
void StructTypes::walk(Dwarf_Die& die, const std::string& scope, Dwarf_Addr bias) {
    Dwarf_Die child;
    if (dwarf_child(&die, &child) != 0) return;
    do {
        const std::string name = name_of(child);
        switch (dwarf_tag(&child)) {
            case DW_TAG_variable: note_variable(child, bias); [[fallthrough]];
            case DW_TAG_formal_parameter: note_results(child, bias); break;
            case DW_TAG_typedef:
                if (!name.empty()) types_.try_emplace(scope + name, child);
                break;
            case DW_TAG_structure_type:
            case DW_TAG_class_type:
                if (!name.empty() && !dwarf_hasattr(&child, DW_AT_declaration))
                    types_.insert_or_assign(scope + name, child);
                [[fallthrough]];
            case DW_TAG_namespace: walk(child, name.empty() ? scope : scope + name + "::", bias); break;
            case DW_TAG_subprogram:
            case DW_TAG_inlined_subroutine:
            case DW_TAG_lexical_block: walk(child, scope, bias); break;
            default: break;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
}

void StructTypes::note_variable(Dwarf_Die& die, Dwarf_Addr bias) {
    Dwarf_Attribute location;
    Dwarf_Op* expression = nullptr;
    std::size_t length = 0;
    if (dwarf_attr(&die, DW_AT_location, &location) == nullptr ||
        dwarf_getlocation(&location, &expression, &length) != 0 || length != 1)
        return;
    Dwarf_Addr address = expression->number;
    if (expression->atom == DW_OP_addrx || expression->atom == DW_OP_GNU_addr_index) {
        Dwarf_Attribute indexed;
        if (dwarf_getlocation_attr(&location, expression, &indexed) != 0 || dwarf_formaddr(&indexed, &address) != 0)
            return;
    } else if (expression->atom != DW_OP_addr) {
        return;
    }
    if (const auto type = type_of(die)) variables_.try_emplace(address + bias, *type);
}

/// Of several variables in one place, such as `this` of a class and its base, that of the largest type.
void StructTypes::note_results(Dwarf_Die& die, Dwarf_Addr bias) {
    Dwarf_Attribute location;
    if (dwarf_attr(&die, DW_AT_location, &location) == nullptr) return;
    const unsigned form = dwarf_whatform(&location);
    if (form != DW_FORM_sec_offset && form != DW_FORM_loclistx) return;  // one place for all of its life
    const auto declared = type_of(die);
    const auto pointer = declared ? peeled(*declared) : std::nullopt;
    Dwarf_Die pointing = pointer ? pointer->type : die;
    const auto pointee = dwarf_tag(&pointing) == DW_TAG_pointer_type ? type_of(pointing) : std::nullopt;
    if (!pointee) return;
    Dwarf_Die type = *pointee;
    Dwarf_Addr base = 0, begin = 0, end = 0;
    Dwarf_Op* expression = nullptr;
    std::size_t length = 0;
    for (std::ptrdiff_t at = 0;
         (at = dwarf_getlocations(&location, at, &base, &begin, &end, &expression, &length)) > 0;) {
        if (length != 1 || expression->atom != DW_OP_reg0 || begin == end) continue;
        const auto [known, is_new] = results_.try_emplace(begin + bias, type);
        if (!is_new && size_of(known->second) < size_of(type)) known->second = type;
    }
}

std::optional<StructLayout> StructTypes::of_type(const std::string& name) const {
    std::string_view wanted = name;
    for (const std::string_view keyword : {"struct ", "class "})
        if (wanted.starts_with(keyword)) wanted.remove_prefix(keyword.size());
    const auto found = types_.find(std::string(wanted));
    return found == types_.end() ? std::nullopt : layout_of(found->second);
}

std::optional<StructLayout> StructTypes::of_variable(Address address) const {
    const auto found = variables_.find(address);
    return found == variables_.end() ? std::nullopt : layout_of(found->second);
}

std::optional<ElementSize> StructTypes::elements_of_variable(Address address) const {
    const auto found = variables_.find(address);
    if (found == variables_.end()) return std::nullopt;
    std::vector<std::uint64_t> lengths;
    Dwarf_Die type = found->second;
    while (true) {
        std::optional<Dwarf_Die> next;
        switch (dwarf_tag(&type)) {
            case DW_TAG_array_type: add_lengths(type, lengths); [[fallthrough]];
            case DW_TAG_typedef:
            case DW_TAG_const_type:
            case DW_TAG_volatile_type:
            case DW_TAG_atomic_type: next = type_of(type); break;
            default: next = array_within(type); break;
        }
        if (!next) break;
        type = *next;
    }
    const std::uint64_t bytes = size_of(type);
    if (bytes == 0) return std::nullopt;
    return ElementSize{bytes, lengths.size() == 2 ? lengths.back() : 0};
}

std::optional<StructLayout> StructTypes::of_result(Address return_address) const {
    const auto found = results_.find(return_address);
    return found == results_.end() ? std::nullopt : layout_of(found->second);
}

}  // namespace cachetally
