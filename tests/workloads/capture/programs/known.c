/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of which every reference to its named data is known; its first argument says what it does. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../../include/cachetally.h"

enum { rows = 64, columns = 64, threads = 4, cells = 1024, rounds = 10 };

volatile double matrix[rows][columns] __attribute__((aligned(64)));
volatile long shared_line[8] __attribute__((aligned(64)));
volatile int d[16]; /* as a name of C++ it were "double" */
volatile int own[threads][cells] __attribute__((aligned(64)));

static pthread_barrier_t barrier;

/* rows * columns stores, then as many loads, down the columns */
static int sweep(void) {
    double sum = 0;
    CACHETALLY_PHASE("fill");
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) matrix[i][j] = i;
    CACHETALLY_PHASE("sum");
    for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) sum += matrix[i][j];
    printf("%g\n", sum);
    return 0;
}

/* cells stores per round and thread; a barrier after each round */
static void* work(void* number) {
    const long me = (long)number;
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < cells; ++i) own[me][i] = round;
        shared_line[me] = round;
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static int with_threads(void) {
    pthread_t all[threads];
    pthread_barrier_init(&barrier, NULL, threads);
    for (long i = 0; i < threads; ++i) pthread_create(&all[i], NULL, work, (void*)i);
    for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
    puts("joined");
    return 0;
}

/* 100 stores outside of OFF and ON */
static int partly(void) {
    for (int i = 0; i < 50; ++i) matrix[0][i] = 1;
    CACHETALLY_OFF();
    for (int i = 0; i < 1000; ++i) matrix[1][i % columns] = 2;
    CACHETALLY_ON();
    for (int i = 0; i < 50; ++i) matrix[2][i] = 3;
    return 0;
}

/* 200 stores to memory of the heap, by a name of the program's own */
static int on_heap(void) {
    volatile long* const block = malloc(200 * sizeof(long));
    CACHETALLY_REGION("block", block, 200 * sizeof(long), sizeof(long));
    for (int i = 0; i < 200; ++i) block[i] = i;
    free((void*)block);
    return 0;
}

struct cell {
    long key;
    struct {
        short low, high;
    } range;
    char flag;
    double weight;
    unsigned bits : 3, more : 5;
};
volatile struct cell grid[100];

/* key: 200 stores; range.high: 100; weight: 100 stores and 100 loads; bits, of the last one alone: a load and a store */
static int with_fields(void) {
    for (int i = 0; i < 100; ++i) {
        grid[i].key = i;
        grid[i].range.high = (short)i;
        grid[i].weight = i;
    }
    for (int i = 99; i >= 0; --i) grid[i].key = (long)grid[i].weight;
    grid[99].bits = 5;
    return 0;
}

struct node {
    struct node* next;
    long value;
    long unused[6];
};

__attribute__((noinline)) static struct node* new_node(struct node* next, long value) {
    struct node* const node = malloc(sizeof *node);
    node->next = next; /* 2 stores to each node */
    node->value = value;
    return node;
}

__attribute__((noinline)) static long sum_of(const struct node* node) {
    long sum = 0;
    for (; node; node = node->next) sum += node->value; /* 2 loads of each */
    return sum;
}

/* 1000 nodes, freed and made again: the second 1000 have the places of the first */
__attribute__((noinline)) static int list(void) {
    for (int round = 0; round < 2; ++round) {
        struct node* first = NULL;
        for (int i = 0; i < 1000; ++i) first = new_node(first, i);
        printf("%ld\n", sum_of(first));
        while (first) {
            struct node* const gone = first;
            first = gone->next; /* 1 load of each */
            free(gone);
        }
    }
    return 0;
}

/* The child's references are its own. */
static int forked(void) {
    int status = 0;
    const pid_t child = fork();
    for (int i = 0; i < (child == 0 ? 1000 : 10); ++i) matrix[0][i % columns] = 1;
    if (child == 0) _exit(5);
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
    return WEXITSTATUS(status) == 5 ? 0 : 1;
}

__attribute__((noinline)) static int letter(void) {
    for (int k = 0; k < 16; ++k) d[k] = k;
    return 0;
}

static int later(void) {
    CACHETALLY_PHASE("before");
    partly();
    CACHETALLY_PHASE("from here");
    letter();
    CACHETALLY_PHASE("behind");
    return letter();
}

/* Names where no memory is, and one whose end is that of readable memory. */
static int wild(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const char name[] = "ends with its page";
    char* const pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char* const last = pages + page - strlen(name);
    memcpy(last, name, strlen(name));
    mprotect(pages + page, page, PROT_NONE);
    CACHETALLY_PHASE((char*)8);
    CACHETALLY_PHASE(pages + page);
    CACHETALLY_PHASE(last);
    CACHETALLY_REGION((char*)8, matrix, sizeof matrix, sizeof(double));
    matrix[0][0] = 1;
    return 0;
}

/* By another process, when all is done and another program could not be executed. */
static int killed(void) {
    sweep();
    execl("/nowhere", "nowhere", (char*)NULL);
    if (fork() == 0) _exit(kill(getppid(), SIGKILL));
    for (;;) pause();
}

int main(int count, char** arguments) {
    const char* const what = count > 1 ? arguments[1] : "sweep";
    if (strcmp(what, "sweep") == 0) return sweep();
    if (strcmp(what, "threads") == 0) return with_threads();
    if (strcmp(what, "partly") == 0) return partly();
    if (strcmp(what, "heap") == 0) return on_heap();
    if (strcmp(what, "list") == 0) return list();
    if (strcmp(what, "letter") == 0) return letter();
    if (strcmp(what, "later") == 0) return later();
    if (strcmp(what, "fields") == 0) return with_fields();
    if (strcmp(what, "fork") == 0) return forked();
    if (strcmp(what, "exec") == 0) return execl(arguments[0], arguments[0], "exit", "7", (char*)NULL);
    if (strcmp(what, "exit") == 0) return atoi(arguments[2]);
    if (strcmp(what, "abort") == 0) abort();
    if (strcmp(what, "kill") == 0) return killed();
    if (strcmp(what, "wild") == 0) return wild();
    if (strcmp(what, "copy") == 0) {
        for (int character; (character = getchar()) != EOF;) putchar(character);
        return 0;
    }
    for (;;) matrix[0][0] += 1; /* "endless" */
}
