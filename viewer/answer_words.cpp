// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/answer_words.hpp"

#include <nlohmann/json.hpp>

// NOLINTNEXTLINE(hicpp-no-assembler): as the viewer's page is embedded
__asm__(
    ".section .rodata\n"
    ".global cachetally_answer_words\n"
    "cachetally_answer_words:\n"
    ".incbin \"" CACHETALLY_ANSWER_WORDS
    "\"\n"
    ".byte 0\n"
    ".previous\n");

extern "C" const char cachetally_answer_words[];

namespace cachetally {

const AnswerWords& words_of_answers() {
    static const AnswerWords words = [] {
        const auto json = nlohmann::ordered_json::parse(cachetally_answer_words);
        AnswerWords read;
        json.at("longestName").get_to(read.longest_name);
        json.at("phases").at("alike").get_to(read.alike);
        json.at("phases").at("standsOut").get_to(read.stands_out);
        json.at("phases").at("majority").get_to(read.majority);
        json.at("rare").get_to(read.rare);
        json.at("sparse").get_to(read.sparse);
        json.at("phases").at("none").get_to(read.no_phase_stands_out);
        for (const auto& [name, in_words] : json.at("causes").items()) read.causes.push_back(in_words);
        for (const auto& [name, remedy] : json.at("remedies").items())
            read.remedies[name] = {remedy.at(0), remedy.at(1)};
        return read;
    }();
    return words;
}

}  // namespace cachetally
