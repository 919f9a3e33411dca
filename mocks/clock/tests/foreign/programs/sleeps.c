// sleeps THREADS TIMES: many threads sleep many times, from 1 to 30 s, in every way that libc has.
//
// None may end early by the clock it was told for. After each one its end is printed in nanoseconds of the wall
// clock, for whoever has the other end of the pipe to look at his own clock: "due NANOSECONDS".
#include "judge.h"

static int times;
static atomic_int early, slept;
static atomic_llong latest;

static int sleep_once(int way, clockid_t clock, int64_t length) {
    struct timespec relative = timespec_of(length), absolute = timespec_of(now(clock) + length);
    switch (way) {
    case 0:
        return nanosleep(&relative, NULL);
    case 1:
    case 2:
        return clock_nanosleep(clock, 0, &relative, NULL);
    default:
        return clock_nanosleep(clock, TIMER_ABSTIME, &absolute, NULL);
    }
}

static void *sleeper(void *number) {
    uint64_t draw = (uint64_t)(uintptr_t)number * 2654435761u + 1;
    for (int i = 0; i < times; i++) {
        draw = draw * 6364136223846793005u + 1442695040888963407u;
        int64_t length = seconds(1 + (double)(draw >> 40) / (1 << 24) * 29);
        int way = i % 5;
        clockid_t clock = way == 2 || way == 4 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
        int64_t begin = now(clock), wall = now(CLOCK_REALTIME);
        int result = sleep_once(way, clock, length);
        int64_t late = now(clock) - begin - length;
        if (result != 0 || late < 0) {
            atomic_fetch_add(&early, 1);
        }
        long long seen = atomic_load(&latest);
        while (seen < late && !atomic_compare_exchange_weak(&latest, &seen, late)) {
        }
        atomic_fetch_add(&slept, 1);
        printf("due %lld\n", (long long)(wall + length));
    }
    return NULL;
}

int main(int count, char **words) {
    if (count != 3) {
        return 2;
    }
    // Each line is to be heard when it is said.
    setvbuf(stdout, NULL, _IOLBF, 0);
    int threads = atoi(words[1]);
    times = atoi(words[2]);
    pthread_t sleepers[threads];
    for (int i = 0; i < threads; i++) {
        sure(-pthread_create(&sleepers[i], NULL, sleeper, (void *)(uintptr_t)i), "pthread_create");
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(sleepers[i], NULL);
    }
    fact(atomic_load(&slept) == threads * times, "%d sleeps", atomic_load(&slept));
    fact(atomic_load(&early) == 0, "%d early", atomic_load(&early));
    fact(1, "the latest by %.6f s", in_seconds(atomic_load(&latest)));
    return verdict();
}
