// SPDX-License-Identifier: BSD-3-Clause
// ForwardingSource: a source that gives what another one gives, for those that change some of it.
#pragma once

#include "cachetally/reference_source.hpp"

namespace cachetally {

/// Wishes are not passed on: who looks at references wants them whole.
class ForwardingSource : public ReferenceSource {
public:
    explicit ForwardingSource(ReferenceSource& source) : source_(source) {}
    unsigned cores() const override { return source_.cores(); }
    Batch next(unsigned core) override { return source_.next(core); }
    std::vector<Region> regions() const override { return source_.regions(); }
    std::vector<std::string> functions() const override { return source_.functions(); }
    std::vector<std::string> phase_names() const override { return source_.phase_names(); }
    const SiteTable* sites() const override { return source_.sites(); }
    SiteNames site_names() const override { return source_.site_names(); }
    double progress() const override { return source_.progress(); }

protected:
    ReferenceSource& source() { return source_; }

private:
    ReferenceSource& source_;
};

}  // namespace cachetally
