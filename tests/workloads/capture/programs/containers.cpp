// SPDX-License-Identifier: BSD-3-Clause
// Two containers, whose allocations are inlined from the same lines of the library; and a variable of the library.
#include <iostream>
#include <vector>

int main() {
    std::vector<long> first(4096);
    std::vector<long> second(4096);
    for (unsigned i = 0; i < 4096; ++i) first[i] = static_cast<long>(i);
    for (unsigned i = 0; i < 4096; ++i) second[i] += first[i * 67 % 4096];
    return second[100] == 0 || !std::cout.good() ? 1 : 0;
}
