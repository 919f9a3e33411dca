// waits LENGTH EVENT [NAME]: every call that takes a timeout, each in a thread of its own, all at once.
//
// Each waits LENGTH seconds. With EVENT 0 nothing comes, and it must end then, with what Linux answers to that;
// otherwise it is woken after EVENT seconds, and must end then, the rest of the time written where Linux does so.
// The calls themselves stand in waits_sleeping.c, waits_locking.c and waits_listening.c.
#include "waits.h"

// A signal that only interrupts.
static void nothing(int number) {
    (void)number;
}

static void *wait_once(void *argument) {
    struct wait *wait = argument;
    while (!atomic_load(&wait->ready)) {
        usleep(100);
    }
    wait->outcome = wait->call->begin(wait);
    atomic_store(&wait->done, 1);
    return NULL;
}

static void judge(const struct wait *wait, double took) {
    const struct call *call = wait->call;
    if (wait->outcome == ABSENT || wait->outcome == -ENOSYS) {
        printf("skipped %s: this machine does not have it\n", call->name);
        return;
    }
    double due = wait->event > 0 ? wait->event : wait->length;
    int expected = wait->event > 0 ? call->woken : call->expired;
    int in_time = took >= due && took < due + tolerated();
    fact(wait->outcome == expected && in_time, "%s: %d (%d) after %.4f s of %g", call->name, wait->outcome,
         expected, took, due);
    if (wait->event > 0 && call->writes_rest) {
        // The waiter has begun a little later than it was prepared.
        double left = wait->length - wait->event;
        fact(wait->left < left + tolerated() && wait->left > left - tolerated(), "%s: %.4f s left of %g",
             call->name, wait->left, left);
    }
}

// Prepares a wait, wakes the waiter or not, and judges what he says.
static void *play(void *argument) {
    struct wait *wait = argument;
    wait->left = UNWRITTEN;
    pthread_create(&wait->waiter, NULL, wait_once, wait);
    if (wait->call->prepare) {
        wait->call->prepare(wait);
    }
    int64_t begin = now(CLOCK_MONOTONIC);
    atomic_store(&wait->ready, 1);
    if (wait->event > 0) {
        rest(wait->event);
        wait->call->wake(wait);
    }
    pthread_join(wait->waiter, NULL);
    judge(wait, in_seconds(now(CLOCK_MONOTONIC) - begin));
    return NULL;
}

int main(int count, char **words) {
    if (count < 3) {
        return 2;
    }
    struct sigaction interrupting = {.sa_handler = nothing};
    sigaction(SIGUSR1, &interrupting, NULL);
    const struct call *tables[] = {sleeping_calls, locking_calls, listening_calls};
    static struct wait waits[100];
    pthread_t players[100];
    int length = 0;
    for (int table = 0; table < 3; table++) {
        for (const struct call *call = tables[table]; call->name; call++) {
            if (count == 3 || strcmp(words[3], call->name) == 0) {
                waits[length].call = call;
                waits[length].length = atof(words[1]);
                waits[length].event = atof(words[2]);
                pthread_create(&players[length], NULL, play, &waits[length]);
                length++;
            }
        }
    }
    for (int i = 0; i < length; i++) {
        pthread_join(players[i], NULL);
    }
    fact(length > 0, "%d calls", length);
    return verdict();
}
