// SPDX-License-Identifier: BSD-3-Clause
#include "probes/targets/noise.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace cachetally {

std::vector<std::string> noise_names() { return {"none", "quiet", "realistic", "heavy"}; }

NoiseModel noise_named(const std::string& name) {
    NoiseModel noise;
    if (name == "none") return noise;
    noise.timer_quantum = 20;
    noise.jitter = 0.001;
    if (name == "quiet") return noise;
    noise.jitter = 0.003;
    noise.interrupt_period = 3e6;
    noise.interrupt_cycles = 5000;
    noise.interrupt_lines = 128;
    noise.interrupt_pages = 8;
    if (name == "realistic") return noise;
    noise.timer_quantum = 100;
    noise.jitter = 0.01;
    noise.interrupt_period = 1e6;
    noise.hog_loads = 8;
    noise.hog_bytes = 1ULL << 20;
    if (name == "heavy") return noise;
    throw std::invalid_argument(fmt::format("there is no noise '{}'; there are none, quiet, realistic, heavy", name));
}

}  // namespace cachetally
