#include "sim/topology/yaml_document.hpp"

#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <sstream>

#include "sim/topology/topology.hpp"

namespace cachetally {
namespace {

constexpr int deepest = 16;

/// Follows the events of a parser and stops it where nodes would be dangerous to build: yaml-cpp recurses over nesting,
/// and aliases make much of little.
class Guard : public YAML::EventHandler {
public:
    explicit Guard(const std::string& file) : file_(file) {}

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ > 1)
            refuse(mark, "a second document begins here; a machine file is one document, without ---");
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { check(mark, "", anchor); }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        refuse(mark, "aliases (*name) are not for machine files; write the value out");
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string&) override {
        check(mark, tag, anchor);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        check(mark, tag, anchor);
        enter(mark);
    }
    void OnSequenceEnd() override { --depth_; }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        check(mark, tag, anchor);
        enter(mark);
    }
    void OnMapEnd() override { --depth_; }

private:
    [[noreturn]] void refuse(const YAML::Mark& mark, std::string message) const {
        throw MachineError(file_, {{mark_of(mark), std::move(message)}});
    }

    void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) const {
        if (anchor != YAML::NullAnchor)
            refuse(mark, "anchors (&name) are not for machine files; write the value out where it is needed");
        // "?" and "!" are what yaml-cpp says of plain and of quoted values without a tag.
        if (!tag.empty() && tag != "?" && tag != "!") refuse(mark, "tags (!type) are not for machine files; remove it");
    }

    void enter(const YAML::Mark& mark) {
        if (++depth_ > deepest) refuse(mark, "nested too deeply; a machine file needs no more than 6 levels");
    }

    const std::string& file_;
    int depth_ = 0;
    int documents_ = 0;
};

}  // namespace

Mark mark_of(const YAML::Mark& mark) {
    return mark.is_null() ? Mark{1, 1} : Mark{std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1};
}

YAML::Node load_yaml(const std::string& text, const std::string& file) {
    if (text.size() > largest_machine_file)
        throw MachineError(file, {{{}, "the file is larger than 1 MiB, which no machine file is"}});
    try {
        std::istringstream stream(text);
        YAML::Parser parser(stream);
        Guard guard(file);
        while (parser.HandleNextDocument(guard)) {
        }
        return YAML::Load(text);
    } catch (const YAML::Exception& error) {
        throw MachineError(file, {{mark_of(error.mark), "this is not valid YAML: " + error.msg}});
    }
}

}  // namespace cachetally
