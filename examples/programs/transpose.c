/* SPDX-License-Identifier: BSD-3-Clause */
/* A matrix is transposed. -DFIXED: rows are padded by one line of 64 bytes. docs/programs-walks.md. */
#include <stdio.h>
#include <stdlib.h>

#ifdef FIXED
#define PAD 8
#else
#define PAD 0
#endif

enum { n = 256 };

static double from[n][n + PAD], to[n][n + PAD];

static void transpose(void) {
    for (int row = 0; row < n; ++row)
        for (int column = 0; column < n; ++column) to[column][row] = from[row][column];
}

int main(int count, char** words) {
    const int repetitions = count > 1 ? atoi(words[1]) : 4;
    double sum = 0;
    for (int row = 0; row < n; ++row)
        for (int column = 0; column < n; ++column) from[row][column] = row * n + column;
    for (int repetition = 0; repetition < repetitions; ++repetition) {
        from[0][repetition % n] += 1;
        transpose();
        sum += to[repetition % n][0];
    }
    printf("%g\n", sum);
    return 0;
}
