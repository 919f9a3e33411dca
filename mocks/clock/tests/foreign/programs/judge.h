// What all our C programs share: reading clocks, spans of time, and facts, one a line.
//
// A program prints each fact it found with "ok" or "WRONG" before it, and its exit code is 0 only if all were right.
// With SECOND=0.01 in the environment its seconds are that much shorter: so it can be tried without a clock. With
// LATE=30 what should end after some seconds may end 30 later.
#ifndef JUDGE_H
#define JUDGE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NANO 1000000000LL

static atomic_int wrongs;

__attribute__((format(printf, 2, 3), unused)) static int fact(int right, const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!right) {
        atomic_fetch_add(&wrongs, 1);
    }
    printf("%s %s\n", right ? "ok" : "WRONG", text);
    fflush(stdout);
    return right;
}

__attribute__((unused)) static int verdict(void) {
    return atomic_load(&wrongs) == 0 ? 0 : 1;
}

// A call that prepares something and has no reason to fail.
__attribute__((unused)) static int sure(int result, const char *what) {
    if (result < 0) {
        fact(0, "%s: %s", what, strerror(errno));
        exit(1);
    }
    return result;
}

__attribute__((unused)) static int64_t nanos(struct timespec time) {
    return time.tv_sec * NANO + time.tv_nsec;
}

__attribute__((unused)) static struct timespec timespec_of(int64_t ns) {
    return (struct timespec){.tv_sec = ns / NANO, .tv_nsec = ns % NANO};
}

__attribute__((unused)) static int64_t now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return nanos(time);
}

// So many seconds of this program, in nanoseconds of its clock.
__attribute__((unused)) static int64_t seconds(double count) {
    const char *second = getenv("SECOND");
    return (int64_t)(count * 1e9 * (second ? atof(second) : 1.0));
}

__attribute__((unused)) static struct timespec span(double count) {
    return timespec_of(seconds(count));
}

__attribute__((unused)) static struct timespec at(clockid_t clock, double count) {
    return timespec_of(now(clock) + seconds(count));
}

// How many seconds of this program these nanoseconds are.
__attribute__((unused)) static double in_seconds(int64_t ns) {
    return (double)ns / (double)seconds(1);
}

// A wait that nothing cuts short.
__attribute__((unused)) static void rest(double count) {
    int64_t end = now(CLOCK_MONOTONIC) + seconds(count);
    struct timespec moment = timespec_of(end);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL) == EINTR) {
    }
}

// How late may be, in seconds: at a high rate a little of real time is much.
__attribute__((unused)) static double tolerated(void) {
    const char *late = getenv("LATE");
    return late ? atof(late) : 1.0;
}

// A fact about a span: never too short, and not much too long.
__attribute__((unused)) static int lasted(const char *what, int64_t since, double count) {
    double took = in_seconds(now(CLOCK_MONOTONIC) - since);
    return fact(took >= count && took < count + tolerated(), "%s took %.4f s of %g", what, took, count);
}

#endif
