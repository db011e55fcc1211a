/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays whose elements debugging information tells; files and memory that the program maps. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

struct point {
    double x, y;
};
typedef float row[8];

static volatile double a[1000];
volatile struct point p[500];
volatile double m[20][30];
volatile row typed[4];
volatile short cube[2][3][4];
volatile long single;
volatile char text[100];

enum { bytes = 1 << 16 };

/* So many stores, each to a line of its own. */
__attribute__((noinline)) static void fill(void) {
    volatile char* const own = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < bytes; i += 64) own[i] = 1;
}

/* As many loads of a file, whose place memory of no file may get then. */
static long read_file(const char* path) {
    const int file = open(path, O_RDONLY);
    volatile char* const contents = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    long sum = 0;
    for (int i = 0; i < bytes; i += 64) sum += contents[i];
    munmap((void*)contents, bytes);
    close(file);
    return sum;
}

int main(int count, char** arguments) {
    for (int i = 0; i < 20; ++i) {
        static volatile int local[20];
        local[i] = i;
        a[i] = m[i][i] = p[i].y = typed[i % 4][i % 8] = i;
        cube[i % 2][0][0] = text[i] = single = i;
    }
    if (count > 1) single = read_file(arguments[1]);
    fill();
    return 0;
}
