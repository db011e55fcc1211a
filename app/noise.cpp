// SPDX-License-Identifier: BSD-3-Clause
#include "app/noise.hpp"

#include <fmt/format.h>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "base/text.hpp"
#include "storage/file.hpp"

namespace cachetally::app {

void add_noise_option(CLI::App& command, std::string& noise, std::vector<std::string> names, const std::string& words) {
    const CLI::Validator named = one_of(std::move(names));
    const auto check = [named](std::string text) { return noise_file(text).empty() ? named(text) : std::string(); };
    command
        .add_option("--noise", noise,
                    fmt::format("What disturbs times: {}; or a recording (probe --record), as whose machine times are "
                                "then disturbed",
                                words))
        ->check(CLI::Validator(check, "NAME|FILE.h5"))
        ->type_name("")
        ->capture_default_str();
}

std::string noise_file(const std::string& noise) { return noise.ends_with(".h5") ? noise : ""; }

std::shared_ptr<const RecordedNoise> read_noise(const std::string& noise) {
    if (noise_file(noise).empty()) return nullptr;
    require_present(noise);
    const InputFile file(noise);
    if (!has_recording(file.root()))
        throw UsageError("--noise {}: it holds no recording; make one with probe --record FILE.h5", shown(noise));
    try {
        return std::make_shared<const RecordedNoise>(read_recording(file.root()));
    } catch (const ProbeError& error) {
        throw UsageError("--noise {}: {}", shown(noise), error.what());
    }
}

}  // namespace cachetally::app
