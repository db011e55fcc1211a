/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels in the manner of PolyBench, on arrays at addresses that the linker chooses. Each access that is written is
   one access of the program (volatile), so their numbers are closed forms
   (tests/workloads/capture/closed_form_test.py). */
#include <stdio.h>
#include <string.h>

enum { ni = 24, nj = 32, nk = 40, steps = 3, side = 64, columns = 512, rows = 256, sweeps = 3 };

#define PAGES __attribute__((aligned(4096)))
static volatile double A[ni][nk] PAGES, B[nk][nj] PAGES, C[ni][nj] PAGES;
static volatile double before[side][side] PAGES, after[side][side] PAGES;
static volatile double matrix[rows][columns] PAGES, x[rows] PAGES, y[columns] PAGES;

/* C = beta * C + alpha * A * B */
static double gemm(double alpha, double beta) {
    for (int i = 0; i < ni; ++i) {
        for (int j = 0; j < nj; ++j) C[i][j] *= beta;
        for (int k = 0; k < nk; ++k)
            for (int j = 0; j < nj; ++j) C[i][j] += alpha * A[i][k] * B[k][j];
    }
    return 0;
}

static void relax(volatile double to[side][side], volatile double from[side][side]) {
    for (int i = 1; i < side - 1; ++i)
        for (int j = 1; j < side - 1; ++j)
            to[i][j] = 0.2 * (from[i][j] + from[i][j - 1] + from[i][j + 1] + from[i + 1][j] + from[i - 1][j]);
}

static double jacobi_2d(void) {
    for (int step = 0; step < steps; ++step) relax(after, before), relax(before, after);
    return 0;
}

/* x += matrix * y, again and again: a stream of 1 MiB */
static double mv(void) {
    for (int sweep = 0; sweep < sweeps; ++sweep)
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j) x[i] += matrix[i][j] * y[j];
    return 0;
}

int main(int count, char** words) {
    const char* const kernel = count > 1 ? words[1] : "";
    double result = -1;
    if (strcmp(kernel, "gemm") == 0) result = gemm(1.5, 1.2);
    if (strcmp(kernel, "jacobi-2d") == 0) result = jacobi_2d();
    if (strcmp(kernel, "mv") == 0) result = mv();
    printf("%g\n", result);
    return result < 0;
}
