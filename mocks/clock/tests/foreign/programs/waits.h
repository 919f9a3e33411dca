// One wait, as waits.c plays it: what it waits on, and how each call is described in the table.
#ifndef WAITS_H
#define WAITS_H

#include "judge.h"
#include <poll.h>
#include <semaphore.h>
#include <sys/select.h>

// A system call that is not there, or not allowed: the case is skipped, and says so.
#define ABSENT (-100000)
// The call has not written how much time was left, or does not.
#define UNWRITTEN (-1.0)

struct call;

struct wait {
    const struct call *call;
    double length;      // how long it waits, in seconds
    double event;       // when it is woken; 0 is never
    pthread_t waiter;
    atomic_int ready, done;
    int outcome;        // what the call gave, or minus the number of the error
    double left;
    // What it may wait on.
    uint32_t word;
    int reading, writing, epoll, queue, set;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    sem_t semaphore;
    void *ring;
};

struct call {
    const char *name;
    // Called by the thread that will wake it, before the wait.
    void (*prepare)(struct wait *);
    // Waits. Called by the waiter.
    int (*begin)(struct wait *);
    // Wakes it. Called by the thread that prepared it, also after the wait is over.
    void (*wake)(struct wait *);
    int expired, woken;
    // Whether Linux writes the rest of the time when it is woken.
    int writes_rest;
};

// What a system call gave, in one number.
static inline int outcome(long result) {
    return result < 0 ? -errno : (int)result;
}

extern const struct call sleeping_calls[], locking_calls[], listening_calls[];

#endif
