// SPDX-License-Identifier: BSD-3-Clause
// Fiber: a function that can be suspended in the middle and resumed; one logical processor of a kernel runs on one.
#pragma once

#include <exception>
#include <functional>
#include <memory>

namespace cachetally {

class Fiber {
public:
    /// `body` begins at the first resume(). It may call suspend() from any depth.
    explicit Fiber(std::function<void()> body);
    /// A body that is suspended in the middle is unwound: its destructors run.
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// Runs the body until it suspends or ends. An exception of the body comes out here and ends it.
    void resume();
    bool ended() const;

    /// From within the body: returns from the resume() that is under way; continues with the next one.
    void suspend();

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace cachetally
