// alarms: the timers that the kernel keeps. They must ring by the clock of the program.
#include "judge.h"
#include <poll.h>
#include <sys/timerfd.h>

static atomic_int rung;

static void ring(int number) {
    (void)number;
    atomic_fetch_add(&rung, 1);
}

// Waits for the next signal, whose timer was set at `since`.
static void next_ring(const char *what, int64_t since, double due) {
    sigset_t none;
    sigemptyset(&none);
    int before = atomic_load(&rung);
    while (atomic_load(&rung) == before) {
        sigsuspend(&none);
    }
    lasted(what, since, due);
}

static void alarms(void) {
    int64_t begin = now(CLOCK_MONOTONIC);
    if (!getenv("SECOND")) {
        alarm(60);
        rest(20);
        unsigned left = alarm(60);
        fact(left == 40, "alarm: %u s were left of 40", left);
        next_ring("alarm", begin, 80);
    }
    struct itimerval length = {.it_value = {seconds(60) / NANO, seconds(60) % NANO / 1000},
                               .it_interval = {seconds(10) / NANO, seconds(10) % NANO / 1000}};
    begin = now(CLOCK_MONOTONIC);
    sure(setitimer(ITIMER_REAL, &length, NULL), "setitimer");
    rest(20);
    struct itimerval left;
    getitimer(ITIMER_REAL, &left);
    double left_s = in_seconds(left.it_value.tv_sec * NANO + left.it_value.tv_usec * 1000);
    fact(left_s > 39 && left_s <= 40, "setitimer: %.4f s were left of 40", left_s);
    next_ring("setitimer", begin, 60);
    next_ring("setitimer, again", begin, 70);
    next_ring("setitimer, once more", begin, 80);
    struct itimerval off = {0};
    setitimer(ITIMER_REAL, &off, NULL);
    int before = atomic_load(&rung);
    rest(60);
    fact(atomic_load(&rung) == before, "setitimer: silent when taken back");
}

static void timer_of(clockid_t clock, const char *name) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    sure(timer_create(clock, &event, &timer), "timer_create");
    struct itimerspec length = {.it_value = span(60), .it_interval = span(10)};
    int64_t begin = now(CLOCK_MONOTONIC);
    sure(timer_settime(timer, 0, &length, NULL), "timer_settime");
    next_ring(name, begin, 60);
    next_ring(name, begin, 70);
    length = (struct itimerspec){.it_value = at(clock, 30)};
    begin = now(CLOCK_MONOTONIC);
    sure(timer_settime(timer, TIMER_ABSTIME, &length, NULL), "timer_settime");
    next_ring(name, begin, 30);
    sure(timer_delete(timer), "timer_delete");
}

static void next_read(int file, const char *what, int64_t since, double due, uint64_t expected) {
    struct pollfd wanted = {.fd = file, .events = POLLIN};
    poll(&wanted, 1, -1);
    uint64_t times = 0;
    sure((int)read(file, &times, sizeof times), "read");
    lasted(what, since, due);
    fact(times == expected, "%s: it was due %lu times", what, (unsigned long)times);
}

static void file_of(clockid_t clock, const char *name) {
    int file = sure(timerfd_create(clock, TFD_CLOEXEC), "timerfd_create");
    struct itimerspec length = {.it_value = span(60), .it_interval = span(10)}, left;
    int64_t begin = now(CLOCK_MONOTONIC);
    sure(timerfd_settime(file, 0, &length, NULL), "timerfd_settime");
    rest(20);
    sure(timerfd_gettime(file, &left), "timerfd_gettime");
    double left_s = in_seconds(nanos(left.it_value));
    fact(left_s > 39 && left_s <= 40, "%s: %.4f s were left of 40", name, left_s);
    next_read(file, name, begin, 60, 1);
    next_read(file, name, begin, 70, 1);
    length = (struct itimerspec){.it_value = at(clock, 30)};
    begin = now(CLOCK_MONOTONIC);
    sure(timerfd_settime(file, TFD_TIMER_ABSTIME, &length, NULL), "timerfd_settime");
    next_read(file, name, begin, 30, 1);
    close(file);
}

int main(int count, char **words) {
    sigset_t ringing;
    sigemptyset(&ringing);
    sigaddset(&ringing, SIGALRM);
    sigprocmask(SIG_BLOCK, &ringing, NULL);
    struct sigaction rings = {.sa_handler = ring};
    sigaction(SIGALRM, &rings, NULL);
    const char *wanted = count > 1 ? words[1] : "all";
    int all = strcmp(wanted, "all") == 0;
    if (all || strcmp(wanted, "alarm") == 0) {
        alarms();
    }
    if (all || strcmp(wanted, "timer") == 0) {
        timer_of(CLOCK_MONOTONIC, "timer_settime, monotonic");
        timer_of(CLOCK_REALTIME, "timer_settime, wall");
    }
    if (all || strcmp(wanted, "timerfd") == 0) {
        file_of(CLOCK_MONOTONIC, "timerfd, monotonic");
        file_of(CLOCK_REALTIME, "timerfd, wall");
    }
    return verdict();
}
