/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose accesses are known when cachetally-cc compiles it: its data are volatile or atomic. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cachetally.h"

enum { THREADS = 4, ROUNDS = 20000 };

static struct {
    volatile long cells[8];
    volatile short shorts[4];
    char text[64], copy[64];
    atomic_long sum;
} data;
static struct big { long words[6]; } left, right;

static int golden(size_t bytes) {
    struct big* volatile from = &right;
    data.cells[1] = data.cells[0] + 1;
    for (int i = 0; i < 2; ++i) data.shorts[i] = data.shorts[i] + 1;
    memcpy(data.copy, data.text, bytes);
    memset(data.copy, 1, bytes);
    atomic_fetch_add(&data.sum, 1);
    CACHETALLY_OFF();
    data.cells[2] = 1;
    CACHETALLY_ON();
    data.cells[3] = 1;
    left = *from;
    return (int)data.copy[0] - 1;
}

static pthread_barrier_t barrier;

static void* add(void* nothing) {
    for (int i = 0; i < ROUNDS; ++i) atomic_fetch_add(&data.sum, 1);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < ROUNDS; ++i) {
        long before = atomic_load(&data.sum);
        while (!atomic_compare_exchange_weak(&data.sum, &before, before + 2)) {}
    }
    return nothing;
}

static int threads(void) {
    pthread_t all[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; ++i) pthread_create(&all[i], NULL, add, NULL);
    for (int i = 0; i < THREADS; ++i) pthread_join(all[i], NULL);
    return data.sum == 3l * THREADS * ROUNDS ? 0 : 1;
}

static void count(int rounds) {
    for (int i = 0; i < rounds; ++i) data.cells[0] = data.cells[0] + 1;
}

static int fork_and_count(void) {
    int status = 1;
    count(100);
    const pid_t child = fork();
    if (child == 0) {
        count(ROUNDS);
        _exit(data.cells[0] == ROUNDS + 100 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    count(100);
    return status;
}

static void on_alarm(int number) {
    (void)number;
    data.cells[1] = data.cells[1] + 1;
}

int main(int argc, char** argv) {
    const char* const what = argc > 1 ? argv[1] : "";
    CACHETALLY_REGION("data", &data, sizeof data, 8);
    CACHETALLY_REGION("big", &left, sizeof left, 8);
    CACHETALLY_REGION("big", &right, sizeof right, 8);
    if (strcmp(what, "golden") == 0) return golden((size_t)argc * 20);
    if (strcmp(what, "threads") == 0) return threads();
    if (strcmp(what, "fork") == 0) return fork_and_count();
    if (strcmp(what, "status") == 0) return 3;
    if (strcmp(what, "exec") == 0) {
        count(100);
        execl("/bin/true", "true", (char*)NULL);
        execv("/bin/true", argv);
    }
    if (strcmp(what, "killed") == 0) {
        count(ROUNDS);
        kill(getpid(), SIGKILL);
    }
    if (strcmp(what, "signals") == 0) {
        signal(SIGALRM, on_alarm);
        for (int i = 0; i < 100; ++i) {
            ualarm(50, 0);
            count(ROUNDS);
        }
    }
    if (strcmp(what, "long") == 0) {
        errno = EDOM;
        for (int i = 0; i < 500; ++i) count(ROUNDS);
        if (errno != EDOM) return 1;
        fclose(fopen(argv[2], "w"));
    }
    return 0;
}
