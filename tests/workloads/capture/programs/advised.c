/* SPDX-License-Identifier: BSD-3-Clause */
/* The example of docs/advice.md: a matrix that is walked by columns, and structs of which one field is used.
   PAD: doubles behind each row. SPLIT: the field in an array of its own. */
#include <stdio.h>
#include <stdlib.h>

#ifndef PAD
#define PAD 0
#endif

enum { n = 512, particles = 16384, passes = 4 };

static double matrix[n][n + PAD];

#ifdef SPLIT
static double mass[particles];
#else
struct particle {
    double position[3], velocity[3], mass, charge;
};
#endif

int main(int count, char** words) {
    const int repetitions = count > 1 ? atoi(words[1]) : 1;
    double sum = 0;
#ifndef SPLIT
    struct particle* const all = calloc(particles, sizeof(struct particle));
#endif
    for (int repetition = 0; repetition < repetitions; ++repetition) {
        for (int column = 0; column < n; ++column)
            for (int row = 0; row < n; ++row) sum += matrix[row][column] += 1;
        for (int pass = 0; pass < passes; ++pass)
            for (int i = 0; i < particles; ++i)
#ifdef SPLIT
                sum += mass[i];
#else
                sum += all[i].mass;
#endif
    }
    printf("%g\n", sum);
    return 0;
}
