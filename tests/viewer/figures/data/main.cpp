// SPDX-License-Identifier: BSD-3-Clause
// Writes what a figure of counts over addresses is painted from, for drawn.py: KIND FILE.h5 DATA.h5 [OPTION...]; of the
// kind "numbers" prints the phases that --phases is for.
#include <cstdio>

#include "storage/file.hpp"
#include "viewer/figures/figure_data.hpp"

int main(int count, char** words) {
    using namespace cachetally;
    if (count < 4) return 2;
    const FigureRequest request{words[1], words[2], "", false, {words + 4, words + count}, Trust::file};
    try {
        if (request.kind == "numbers")
            std::puts(chosen_phases(request).c_str());
        else
            write_figure_data(request, words[3]);
        return 0;
    } catch (const StorageError& error) {
        std::fputs(error.what(), stderr);
        return 1;
    }
}
