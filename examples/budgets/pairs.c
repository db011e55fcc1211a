// SPDX-License-Identifier: BSD-3-Clause
// Forces between pairs of particles within a cutoff: arrays of the heap, a table on the stack, small blocks in a list.
//   pairs [particles] [bytes]   bytes: allocated first, and never used: a change that nothing depends on
#include <stdio.h>
#include <stdlib.h>

struct cell {
    int particle;
    struct cell *next;
};

int main(int argc, char **argv) {
    const int particles = argc > 1 ? atoi(argv[1]) : 1500, cells = 256;
    const size_t unused = argc > 2 ? (size_t)atol(argv[2]) : 0;
    char *padding = unused == 0 ? NULL : malloc(unused);
    double *position = malloc(sizeof(double) * particles), *force = calloc(particles, sizeof(double));
    double table[1024];
    struct cell *lists[256] = {0};
    for (int i = 0; i < 1024; ++i) table[i] = 1.0 / (1 + i);
    unsigned state = 1;
    for (int i = 0; i < particles; ++i) {
        state = state * 1664525u + 1013904223u;
        position[i] = (state >> 8) / 16777216.0;
        const int cell = (int)(position[i] * cells);
        struct cell *entry = malloc(sizeof *entry);
        *entry = (struct cell){i, lists[cell]};
        lists[cell] = entry;
    }
    for (int step = 0; step < 4; ++step)
        for (int cell = 0; cell + 1 < cells; ++cell)
            for (struct cell *a = lists[cell]; a != NULL; a = a->next)
                for (int side = 0; side < 8 && cell + side < cells; ++side)
                    for (struct cell *b = lists[cell + side]; b != NULL; b = b->next) {
                        const double distance = position[b->particle] - position[a->particle];
                        const double square = distance * distance * 1023;
                        force[a->particle] += table[(int)square & 1023];
                    }
    double sum = 0;
    for (int i = 0; i < particles; ++i) sum += force[i];
    printf("%.6f\n", sum);
    free(padding);
    return 0;
}
