// The calls of waits.c that only let time pass, or wait for a signal.
#include "waits.h"

static void interrupt(struct wait *wait) {
    pthread_kill(wait->waiter, SIGUSR1);
}

static int keep(struct wait *wait, struct timespec left, int result) {
    if (result == -EINTR) {
        wait->left = in_seconds(nanos(left));
    }
    return result;
}

static int nanosleep_it(struct wait *wait) {
    struct timespec length = span(wait->length), left = {0};
    int result = outcome(syscall(SYS_nanosleep, &length, &left));
    return keep(wait, left, result);
}

// The rest may be written where the length stands.
static int nanosleep_in_place(struct wait *wait) {
    struct timespec length = span(wait->length);
    int result = outcome(syscall(SYS_nanosleep, &length, &length));
    return keep(wait, length, result);
}

static int relative(struct wait *wait, clockid_t clock) {
    struct timespec length = span(wait->length), left = {0};
    int result = outcome(syscall(SYS_clock_nanosleep, clock, 0, &length, &left));
    return keep(wait, left, result);
}

static int absolute(struct wait *wait, clockid_t clock) {
    struct timespec moment = at(clock, wait->length);
    return outcome(syscall(SYS_clock_nanosleep, clock, TIMER_ABSTIME, &moment, NULL));
}

static int relative_monotonic(struct wait *wait) {
    return relative(wait, CLOCK_MONOTONIC);
}
static int relative_wall(struct wait *wait) {
    return relative(wait, CLOCK_REALTIME);
}
static int absolute_monotonic(struct wait *wait) {
    return absolute(wait, CLOCK_MONOTONIC);
}
static int absolute_wall(struct wait *wait) {
    return absolute(wait, CLOCK_REALTIME);
}
static int absolute_boot(struct wait *wait) {
    return absolute(wait, CLOCK_BOOTTIME);
}

static int usleep_it(struct wait *wait) {
    return outcome(usleep((useconds_t)(seconds(wait->length) / 1000)));
}

static int sigtimedwait_it(struct wait *wait) {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &wanted, NULL);
    struct timespec length = span(wait->length);
    return outcome(sigtimedwait(&wanted, NULL, &length));
}

static void send_wanted(struct wait *wait) {
    pthread_kill(wait->waiter, SIGUSR2);
}

const struct call sleeping_calls[] = {
    {"nanosleep", NULL, nanosleep_it, interrupt, 0, -EINTR, 1},
    {"nanosleep in place", NULL, nanosleep_in_place, interrupt, 0, -EINTR, 1},
    {"clock_nanosleep relative, monotonic", NULL, relative_monotonic, interrupt, 0, -EINTR, 1},
    {"clock_nanosleep relative, wall", NULL, relative_wall, interrupt, 0, -EINTR, 1},
    {"clock_nanosleep absolute, monotonic", NULL, absolute_monotonic, interrupt, 0, -EINTR, 0},
    {"clock_nanosleep absolute, wall", NULL, absolute_wall, interrupt, 0, -EINTR, 0},
    {"clock_nanosleep absolute, boot", NULL, absolute_boot, interrupt, 0, -EINTR, 0},
    {"usleep", NULL, usleep_it, interrupt, 0, -EINTR, 0},
    {"sigtimedwait", NULL, sigtimedwait_it, send_wanted, -EAGAIN, SIGUSR2, 0},
    {NULL, NULL, NULL, NULL, 0, 0, 0},
};
