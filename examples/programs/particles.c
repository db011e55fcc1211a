/* SPDX-License-Identifier: BSD-3-Clause */
/* Particles that move, most of whose fields are seldom used. -DFIXED: the seldom used fields are in an array of their
   own. docs/programs-walks.md. */
#include <stdio.h>
#include <stdlib.h>

struct origin {
    double mass, charge, born;
    char name[24];
};

struct particle {
    float place, speed;
#ifndef FIXED
    struct origin origin;
    double reserved;
#endif
};

enum { particles = 32768 };

static struct particle* all;
#ifdef FIXED
static struct origin* origins;
#define ORIGIN(i) origins[i]
#else
#define ORIGIN(i) all[i].origin
#endif

static void move(float time) {
    for (int i = 0; i < particles; ++i) {
        struct particle* const it = &all[i];
        it->place += it->speed * time;
        if (it->place > 1 || it->place < 0) it->speed = -it->speed;
    }
}

int main(int count, char** words) {
    const int steps = count > 1 ? atoi(words[1]) : 20;
    double mass = 0, place = 0;
    all = calloc(particles, sizeof *all);
#ifdef FIXED
    origins = calloc(particles, sizeof *origins);
#endif
    for (int i = 0; i < particles; ++i) {
        all[i].place = (float)(i % 1000) / 1000;
        all[i].speed = (float)(i % 77 - 38) / 1000;
        ORIGIN(i).mass = i % 5;
    }
    for (int step = 0; step < steps; ++step) move(0.5F);
    for (int i = 0; i < particles; ++i) {
        mass += ORIGIN(i).mass;
        place += all[i].place;
    }
    printf("%g %g\n", mass, place);
    return 0;
}
