// SPDX-License-Identifier: BSD-3-Clause
// The words of answers and remedies, how long names are, and when a phase stands out: viewer/answer.json, which the
// page reads, too.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace cachetally {

/// What helps: a few words; what is the matter. (The page also says at length what to do.)
struct Remedy {
    std::string words, fact;
};

struct AnswerWords {
    std::size_t longest_name = 0;  ///< characters; longer ones lose their middle
    double alike = 0;              ///< of the count of the worst phase: others are as bad
    double stands_out = 0;         ///< times the mean of all phases: a phase is worst
    double majority = 0;           ///< of all misses: phases with more are worst, whatever their miss rate
    double rare = 0;               ///< a miss rate below which nothing is to be gained
    double sparse = 0;             ///< accesses for each miss: fewer use little of each line
    std::string no_phase_stands_out;
    std::vector<std::string> causes;  ///< "are conflicts": by MissCause
    std::map<std::string, Remedy> remedies;
};

const AnswerWords& words_of_answers();

}  // namespace cachetally
