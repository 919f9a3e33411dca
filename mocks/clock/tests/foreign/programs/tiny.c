// Sleeps ten minutes and asks every clock whether that is what it was. It is built in every kind there is.
#include "judge.h"

int main(void) {
    int64_t monotonic = now(CLOCK_MONOTONIC);
    int64_t wall = now(CLOCK_REALTIME);
    int64_t boot = now(CLOCK_BOOTTIME);
    struct timeval day;
    gettimeofday(&day, NULL);
    time_t date = time(NULL);
    rest(600);
    struct timeval later;
    gettimeofday(&later, NULL);
    int64_t of_day = (int64_t)(later.tv_sec - day.tv_sec) * NANO + (later.tv_usec - day.tv_usec) * 1000LL;
    int64_t by_number[2];
    struct timespec raw;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &raw);
    by_number[0] = nanos(raw) - monotonic;
    by_number[1] = (int64_t)(syscall(SYS_time, NULL) - date) * NANO;
    lasted("sleep by the monotonic clock", monotonic, 600);
    double others[] = {in_seconds(now(CLOCK_REALTIME) - wall), in_seconds(now(CLOCK_BOOTTIME) - boot),
                       in_seconds(of_day), in_seconds(by_number[0])};
    const char *names[] = {"wall clock", "boot clock", "gettimeofday", "clock_gettime by its number"};
    for (int i = 0; i < 4; i++) {
        fact(others[i] > 599.999 && others[i] < 601, "%s: %.4f s", names[i], others[i]);
    }
    double coarse = in_seconds((int64_t)(time(NULL) - date) * NANO);
    fact(getenv("SECOND") || (coarse >= 599 && coarse <= 602), "time: %.0f s", coarse);
    coarse = in_seconds(by_number[1]);
    fact(getenv("SECOND") || (coarse >= 599 && coarse <= 602), "time by its number: %.0f s", coarse);
    return verdict();
}
