// Timeouts that are none: zero, negative, in the past, no number at all, or nowhere in memory.
//
// Each call must answer at once, with what Linux answers.
#include "judge.h"
#include <linux/futex.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>

static struct timespec zero = {0, 0}, negative = {-1, 0}, no_number = {1, NANO}, past = {1, 0};
static struct timespec *nowhere = (struct timespec *)8;
static uint32_t word;
static int epoll, ends[2];
static struct pollfd wanted;
static struct epoll_event found[1];

static void is(const char *what, long result, long expected) {
    long outcome = result < 0 ? -errno : result;
    fact(outcome == expected, "%s: %ld (%ld)", what, outcome, expected);
}

// A call that is given an address where nothing is. A child makes it, lest it be the end of all.
#define NOWHERE(what, call)                                                                                  \
    do {                                                                                                     \
        pid_t child = fork();                                                                                \
        if (child == 0) {                                                                                    \
            _exit((call) < 0 ? errno : 0);                                                                   \
        }                                                                                                    \
        int status = 0;                                                                                      \
        waitpid(child, &status, 0);                                                                          \
        fact(WIFEXITED(status) && WEXITSTATUS(status) == EFAULT, "%s: %d, signal %d", what,                  \
             WEXITSTATUS(status), WTERMSIG(status));                                                         \
    } while (0)

static long futex(int operation, struct timespec *timeout) {
    return syscall(SYS_futex, &word, operation, 0, timeout, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void sleeps(void) {
    is("nanosleep of zero", syscall(SYS_nanosleep, &zero, NULL), 0);
    is("nanosleep, negative", syscall(SYS_nanosleep, &negative, NULL), -EINVAL);
    is("nanosleep of no number", syscall(SYS_nanosleep, &no_number, NULL), -EINVAL);
    NOWHERE("nanosleep of nothing", syscall(SYS_nanosleep, NULL, NULL));
    NOWHERE("nanosleep from nowhere", syscall(SYS_nanosleep, nowhere, NULL));
    is("clock_nanosleep to the past", syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 1, &past, NULL), 0);
    is("clock_nanosleep, no clock", syscall(SYS_clock_nanosleep, 77, 0, &past, NULL), -EINVAL);
    NOWHERE("clock_nanosleep from nowhere", syscall(SYS_clock_nanosleep, 1, 0, nowhere, NULL));
    NOWHERE("clock_gettime to nowhere", syscall(SYS_clock_gettime, CLOCK_MONOTONIC, nowhere));
    is("clock_gettime, no clock", syscall(SYS_clock_gettime, 77, &past), -EINVAL);
    sigset_t user;
    sigemptyset(&user);
    sigaddset(&user, SIGUSR2);
    sigprocmask(SIG_BLOCK, &user, NULL);
    is("sigtimedwait of zero", syscall(SYS_rt_sigtimedwait, &user, NULL, &zero, 8), -EAGAIN);
    is("sigtimedwait of no number", syscall(SYS_rt_sigtimedwait, &user, NULL, &no_number, 8), -EINVAL);
    raise(SIGUSR2);
    is("sigtimedwait of zero, pending", syscall(SYS_rt_sigtimedwait, &user, NULL, &zero, 8), SIGUSR2);
}

static void futexes(void) {
    is("futex WAIT of zero", futex(FUTEX_WAIT, &zero), -ETIMEDOUT);
    is("futex WAIT, negative", futex(FUTEX_WAIT, &negative), -EINVAL);
    is("futex WAIT of no number", futex(FUTEX_WAIT, &no_number), -EINVAL);
    NOWHERE("futex WAIT from nowhere", futex(FUTEX_WAIT, nowhere));
    is("futex WAIT_BITSET to the past", futex(FUTEX_WAIT_BITSET, &past), -ETIMEDOUT);
    is("futex WAIT_BITSET to the past, wall", futex(FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, &past), -ETIMEDOUT);
    word = 1;
    struct timespec hour = {3600, 0};
    is("futex WAIT for another value", futex(FUTEX_WAIT, &hour), -EAGAIN);
    // The same argument is a number of threads here, not a moment.
    is("futex WAKE", futex(FUTEX_WAKE, (struct timespec *)3), 0);
    is("futex REQUEUE", syscall(SYS_futex, &word, FUTEX_REQUEUE, 1, 1L, &ends, 0), 0);
    NOWHERE("futex of nowhere", syscall(SYS_futex, nowhere, FUTEX_WAIT, 0, &hour, NULL, 0));
    word = 0;
}

static void files(void) {
    struct timeval none = {0, 0}, minus = {-1, 0};
    is("poll of zero", syscall(SYS_poll, &wanted, 1, 0), 0);
    NOWHERE("poll from nowhere", syscall(SYS_poll, nowhere, 1, 1000));
    is("ppoll of zero", syscall(SYS_ppoll, &wanted, 1, &zero, NULL, 8), 0);
    is("ppoll, negative", syscall(SYS_ppoll, &wanted, 1, &negative, NULL, 8), -EINVAL);
    NOWHERE("ppoll, time from nowhere", syscall(SYS_ppoll, &wanted, 1, nowhere, NULL, 8));
    is("select of zero", syscall(SYS_select, 0, NULL, NULL, NULL, &none), 0);
    is("select, negative", syscall(SYS_select, 0, NULL, NULL, NULL, &minus), -EINVAL);
    NOWHERE("select, time from nowhere", syscall(SYS_select, 0, NULL, NULL, NULL, nowhere));
    struct timeval second = {1, 0};
    NOWHERE("select of sets from nowhere", syscall(SYS_select, 5, nowhere, NULL, NULL, &second));
    is("epoll_wait of zero", syscall(SYS_epoll_wait, epoll, found, 1, 0), 0);
    is("epoll_wait of no file", syscall(SYS_epoll_wait, 9999, found, 1, 1000), -EBADF);
    is("epoll_wait for none", syscall(SYS_epoll_wait, epoll, found, 0, 1000), -EINVAL);
    is("epoll_pwait of zero", syscall(SYS_epoll_pwait, epoll, found, 1, 0, NULL, 8), 0);
    is("epoll_pwait2 of zero", syscall(441, epoll, found, 1, &zero, NULL, 8), 0);
    NOWHERE("epoll_pwait2 from nowhere", syscall(441, epoll, found, 1, nowhere, NULL, 8));
    // Something is there already: an hour is not waited for.
    sure((int)write(ends[1], "!", 1), "write");
    is("poll, something there", syscall(SYS_poll, &wanted, 1, 3600000), 1);
    is("epoll_wait, something there", syscall(SYS_epoll_wait, epoll, found, 1, 3600000), 1);
    NOWHERE("epoll_wait to nowhere", syscall(SYS_epoll_wait, epoll, nowhere, 1, 3600000));
}

int main(void) {
    sure(pipe(ends), "pipe");
    epoll = sure(epoll_create1(0), "epoll_create1");
    wanted = (struct pollfd){.fd = ends[0], .events = POLLIN};
    struct epoll_event read_it = {.events = EPOLLIN};
    sure(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &read_it), "epoll_ctl");
    int64_t begin = now(CLOCK_MONOTONIC);
    sleeps();
    futexes();
    files();
    double took = in_seconds(now(CLOCK_MONOTONIC) - begin);
    fact(took < 1, "all of it took %.4f s", took);
    return verdict();
}
