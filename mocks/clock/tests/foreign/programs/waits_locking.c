// The calls of waits.c that wait for another thread: futexes, what libc makes of them, and semaphores of System V.
#include "waits.h"
#include <linux/futex.h>
#include <sys/ipc.h>
#include <sys/sem.h>

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

static int futex(uint32_t *word, int operation, uint32_t value, struct timespec *timeout, uint32_t bits) {
    return outcome(syscall(SYS_futex, word, operation, value, timeout, NULL, bits));
}

// As everybody does who wakes: the word changes first, or a waiter that does not sleep just now is not told.
static void wake_word(struct wait *wait) {
    __atomic_store_n(&wait->word, 1, __ATOMIC_SEQ_CST);
    futex(&wait->word, FUTEX_WAKE, INT32_MAX, NULL, 0);
}

// A waiter that finds the word changed is woken too.
static int or_changed(struct wait *wait, int outcome) {
    return outcome == -EAGAIN && __atomic_load_n(&wait->word, __ATOMIC_SEQ_CST) == 1 ? 0 : outcome;
}

static int futex_wait(struct wait *wait) {
    struct timespec length = span(wait->length);
    return or_changed(wait, futex(&wait->word, FUTEX_WAIT, 0, &length, 0));
}

static int bitset_monotonic(struct wait *wait) {
    struct timespec moment = at(CLOCK_MONOTONIC, wait->length);
    return or_changed(wait, futex(&wait->word, FUTEX_WAIT_BITSET, 0, &moment, FUTEX_BITSET_MATCH_ANY));
}

static int bitset_wall(struct wait *wait) {
    struct timespec moment = at(CLOCK_REALTIME, wait->length);
    return or_changed(wait, futex(&wait->word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &moment, FUTEX_BITSET_MATCH_ANY));
}

// The lock that knows who holds it: the thread that prepares holds it until it wakes the waiter.
static void hold_word(struct wait *wait) {
    futex(&wait->word, FUTEX_LOCK_PI, 0, NULL, 0);
}

static void release_word(struct wait *wait) {
    futex(&wait->word, FUTEX_UNLOCK_PI, 0, NULL, 0);
}

static int lock_pi(struct wait *wait) {
    struct timespec moment = at(CLOCK_REALTIME, wait->length);
    return futex(&wait->word, FUTEX_LOCK_PI, 0, &moment, 0);
}

static int lock_pi2(struct wait *wait) {
    struct timespec moment = at(CLOCK_MONOTONIC, wait->length);
    return futex(&wait->word, FUTEX_LOCK_PI2, 0, &moment, 0);
}

// The calls that came later have a number of their own each.
static int new_futex_wait(struct wait *wait) {
    struct timespec moment = at(CLOCK_MONOTONIC, wait->length);
    return or_changed(wait, outcome(syscall(455, &wait->word, 0UL, 0xffffffffUL, 2 /* 32 bits */, &moment, CLOCK_MONOTONIC)));
}

static int new_futex_wait_wall(struct wait *wait) {
    struct timespec moment = at(CLOCK_REALTIME, wait->length);
    return or_changed(wait, outcome(syscall(455, &wait->word, 0UL, 0xffffffffUL, 2 /* 32 bits */, &moment, CLOCK_REALTIME)));
}

static int futex_waitv(struct wait *wait) {
    struct {
        uint64_t value, address;
        uint32_t flags, reserved;
    } words[1] = {{0, (uint64_t)(uintptr_t)&wait->word, 2, 0}};
    struct timespec moment = at(CLOCK_MONOTONIC, wait->length);
    return or_changed(wait, outcome(syscall(449, words, 1, 0, &moment, CLOCK_MONOTONIC)));
}

static void prepare_condition(struct wait *wait, clockid_t clock) {
    pthread_condattr_t kind;
    pthread_condattr_init(&kind);
    pthread_condattr_setclock(&kind, clock);
    pthread_cond_init(&wait->condition, &kind);
    pthread_mutex_init(&wait->mutex, NULL);
}
static void prepare_wall_condition(struct wait *wait) {
    prepare_condition(wait, CLOCK_REALTIME);
}
static void prepare_monotonic_condition(struct wait *wait) {
    prepare_condition(wait, CLOCK_MONOTONIC);
}

static int condition_wait(struct wait *wait, clockid_t clock) {
    struct timespec moment = at(clock, wait->length);
    pthread_mutex_lock(&wait->mutex);
    int result = -pthread_cond_timedwait(&wait->condition, &wait->mutex, &moment);
    pthread_mutex_unlock(&wait->mutex);
    return result;
}
static int wall_condition_wait(struct wait *wait) {
    return condition_wait(wait, CLOCK_REALTIME);
}
static int monotonic_condition_wait(struct wait *wait) {
    return condition_wait(wait, CLOCK_MONOTONIC);
}
static void signal_condition(struct wait *wait) {
    pthread_mutex_lock(&wait->mutex);
    pthread_cond_signal(&wait->condition);
    pthread_mutex_unlock(&wait->mutex);
}

static void hold_mutex(struct wait *wait) {
    pthread_mutex_init(&wait->mutex, NULL);
    pthread_mutex_lock(&wait->mutex);
}
static int lock_mutex(struct wait *wait) {
    struct timespec moment = at(CLOCK_REALTIME, wait->length);
    return -pthread_mutex_timedlock(&wait->mutex, &moment);
}
static void release_mutex(struct wait *wait) {
    pthread_mutex_unlock(&wait->mutex);
}

static void prepare_semaphore(struct wait *wait) {
    sem_init(&wait->semaphore, 0, 0);
}
static int semaphore_wait(struct wait *wait) {
    struct timespec moment = at(CLOCK_REALTIME, wait->length);
    return outcome(sem_timedwait(&wait->semaphore, &moment));
}
static void post_semaphore(struct wait *wait) {
    sem_post(&wait->semaphore);
}

// A set outlives its program, unless it is removed; the removal of a set that is waited for is an event.
static void prepare_set(struct wait *wait) {
    wait->set = semget(IPC_PRIVATE, 1, 0600);
}
static int set_wait(struct wait *wait) {
    if (wait->set < 0) {
        return ABSENT;
    }
    struct sembuf take = {.sem_num = 0, .sem_op = -1, .sem_flg = 0};
    struct timespec length = span(wait->length);
    int result = outcome(semtimedop(wait->set, &take, 1, &length));
    semctl(wait->set, 0, IPC_RMID);
    return result;
}
static void add_to_set(struct wait *wait) {
    struct sembuf give = {.sem_num = 0, .sem_op = 1, .sem_flg = 0};
    semop(wait->set, &give, 1);
}

const struct call locking_calls[] = {
    {"futex WAIT", NULL, futex_wait, wake_word, -ETIMEDOUT, 0, 0},
    {"futex WAIT_BITSET, monotonic", NULL, bitset_monotonic, wake_word, -ETIMEDOUT, 0, 0},
    {"futex WAIT_BITSET, wall", NULL, bitset_wall, wake_word, -ETIMEDOUT, 0, 0},
    {"futex LOCK_PI", hold_word, lock_pi, release_word, -ETIMEDOUT, 0, 0},
    {"futex LOCK_PI2", hold_word, lock_pi2, release_word, -ETIMEDOUT, 0, 0},
    {"futex_wait", NULL, new_futex_wait, wake_word, -ETIMEDOUT, 0, 0},
    {"futex_wait, wall", NULL, new_futex_wait_wall, wake_word, -ETIMEDOUT, 0, 0},
    {"futex_waitv", NULL, futex_waitv, wake_word, -ETIMEDOUT, 0, 0},
    {"pthread_cond_timedwait, wall", prepare_wall_condition, wall_condition_wait, signal_condition, -ETIMEDOUT,
     0, 0},
    {"pthread_cond_timedwait, monotonic", prepare_monotonic_condition, monotonic_condition_wait,
     signal_condition, -ETIMEDOUT, 0, 0},
    {"pthread_mutex_timedlock", hold_mutex, lock_mutex, release_mutex, -ETIMEDOUT, 0, 0},
    {"sem_timedwait", prepare_semaphore, semaphore_wait, post_semaphore, -ETIMEDOUT, 0, 0},
    {"semtimedop", prepare_set, set_wait, add_to_set, -EAGAIN, 0, 0},
    {NULL, NULL, NULL, NULL, 0, 0, 0},
};
