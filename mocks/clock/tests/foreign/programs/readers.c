// readers THREADS SECONDS PAUSE: reads the clocks as fast as it can, in many threads at once.
//
// No reading may be before any that was finished earlier, in whichever thread, and wall clock and monotonic clock
// stay as far apart as they were. With a pause, each thread rests that long after each of its bursts.
#include "judge.h"

#define BURST 2000

static atomic_llong latest;
static atomic_llong reads, steps_back, drift;
static int64_t apart, end;
static double pause_s;

static void raise_to(atomic_llong *place, long long value) {
    long long seen = atomic_load(place);
    while (seen < value && !atomic_compare_exchange_weak(place, &seen, value)) {
    }
}

static int64_t by_number(clockid_t clock) {
    struct timespec time;
    syscall(SYS_clock_gettime, clock, &time);
    return nanos(time);
}

static void read_once(int i) {
    // A moment that lies between two monotonic ones on the wall clock must do so on both.
    int64_t before = atomic_load(&latest);
    int64_t first = i % 64 == 0 ? by_number(CLOCK_MONOTONIC) : now(CLOCK_MONOTONIC);
    int64_t wall = i % 64 == 1 ? by_number(CLOCK_REALTIME) : now(CLOCK_REALTIME);
    int64_t second = now(CLOCK_MONOTONIC);
    raise_to(&latest, second);
    if (first < before || second < first) {
        atomic_fetch_add(&steps_back, 1);
    }
    int64_t as_monotonic = wall - apart;
    if (as_monotonic < first) {
        raise_to(&drift, first - as_monotonic);
    } else if (as_monotonic > second) {
        raise_to(&drift, as_monotonic - second);
    }
}

static void *reader(void *unused) {
    while (now(CLOCK_MONOTONIC) < end) {
        for (int i = 0; i < BURST; i++) {
            read_once(i);
        }
        atomic_fetch_add(&reads, 3 * BURST);
        if (pause_s > 0) {
            rest(pause_s);
        }
    }
    return unused;
}

// How far the wall clock is ahead, from the narrowest of many pairs of readings.
static int64_t measured_apart(void) {
    int64_t narrowest = INT64_MAX, found = 0;
    for (int i = 0; i < 10000; i++) {
        int64_t first = now(CLOCK_MONOTONIC), wall = now(CLOCK_REALTIME), second = now(CLOCK_MONOTONIC);
        if (second - first < narrowest) {
            narrowest = second - first;
            found = wall - first - narrowest / 2;
        }
    }
    return found;
}

int main(int count, char **words) {
    if (count != 4) {
        return 2;
    }
    int threads = atoi(words[1]);
    pause_s = atof(words[3]);
    apart = measured_apart();
    end = now(CLOCK_MONOTONIC) + seconds(atof(words[2]));
    pthread_t readers[threads];
    for (int i = 0; i < threads; i++) {
        pthread_create(&readers[i], NULL, reader, NULL);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(readers[i], NULL);
    }
    fact(atomic_load(&reads) > 0, "%lld reads", atomic_load(&reads));
    fact(atomic_load(&steps_back) == 0, "%lld steps back", atomic_load(&steps_back));
    // What the measuring itself may be off by: a part of two readings, at 60 times real time.
    fact(atomic_load(&drift) < 100000, "wall and monotonic clock drift by %lld ns", atomic_load(&drift));
    return verdict();
}
