// signals CASE: handlers and masks around waits. What each case is stands beside its name, at the end.
#include "judge.h"
#include <poll.h>
#include <setjmp.h>
#include <sys/epoll.h>
#include <sys/select.h>

static atomic_int handled;
static sigjmp_buf way_out;

static void sleep_in_handler(int number) {
    (void)number;
    rest(10);
    atomic_fetch_add(&handled, 1);
}

static void end_in_handler(int number) {
    (void)number;
    static const char told[] = "ended\n";
    (void)!write(1, told, sizeof told - 1);
    _exit(7);
}

static void jump_in_handler(int number) {
    (void)number;
    siglongjmp(way_out, 1);
}

static void count_in_handler(int number) {
    (void)number;
    atomic_fetch_add(&handled, 1);
}

static void on(int number, void (*handler)(int), int everything_blocked) {
    struct sigaction action = {.sa_handler = handler};
    if (everything_blocked) {
        sigfillset(&action.sa_mask);
    }
    sure(sigaction(number, &action, NULL), "sigaction");
}

// Sends SIGUSR1 to the main thread, 5 s later.
static pthread_t to_signal;

static void *signal_later(void *unused) {
    rest(5);
    pthread_kill(to_signal, SIGUSR1);
    return unused;
}

static void begin_signalling(void) {
    pthread_t thread;
    to_signal = pthread_self();
    pthread_create(&thread, NULL, signal_later, NULL);
    pthread_detach(thread);
}

static void say(const char *line) {
    puts(line);
    fflush(stdout);
}

static void term(void) {
    on(SIGTERM, end_in_handler, 0);
    say("waiting");
    rest(36000);
}

// Each of these calls has a mask of its own while it waits: all but one signal, whose handler waits under it.
static int waits_with_mask(int call, const sigset_t *mask) {
    struct timespec minute = span(60);
    switch (call) {
    case 0:
        return ppoll(NULL, 0, &minute, mask);
    case 1:
        return pselect(0, NULL, NULL, NULL, &minute, mask);
    case 2: {
        struct epoll_event found;
        return epoll_pwait(epoll_create1(0), &found, 1, (int)(seconds(60) / 1000000), mask);
    }
    case 3:
        return sigsuspend(mask);
    default:
        return ppoll(NULL, 0, NULL, mask);
    }
}

static void masks(void) {
    const char *names[] = {"ppoll", "pselect", "epoll_pwait", "sigsuspend", "ppoll without end"};
    on(SIGUSR1, sleep_in_handler, 1);
    sigset_t user, all_but_user;
    sigemptyset(&user);
    sigaddset(&user, SIGUSR1);
    sigprocmask(SIG_BLOCK, &user, NULL);
    sigfillset(&all_but_user);
    sigdelset(&all_but_user, SIGUSR1);
    for (int call = 0; call < 5; call++) {
        int before = atomic_load(&handled);
        int64_t begin = now(CLOCK_MONOTONIC);
        begin_signalling();
        int result = waits_with_mask(call, &all_but_user);
        fact(result == -1 && errno == EINTR, "%s: %d, %s", names[call], result, strerror(errno));
        fact(atomic_load(&handled) == before + 1, "%s: the handler has run", names[call]);
        lasted(names[call], begin, 15);
    }
}

static void handler_mask(void) {
    on(SIGUSR1, sleep_in_handler, 1);
    int64_t begin = now(CLOCK_MONOTONIC);
    begin_signalling();
    struct timespec minute = span(60), left;
    int result = nanosleep(&minute, &left);
    fact(result == -1 && errno == EINTR, "nanosleep: %d", result);
    // Linux tells the rest as it was before the handler; as it is after that is what a sleeper wants to know.
    double rest_s = in_seconds(nanos(left));
    fact(rest_s > 43.9 && rest_s < 56, "%.4f s left", rest_s);
    lasted("a wait and a handler that waits", begin, 15);
}

static void blocked(void) {
    sigset_t all, before, after;
    sigfillset(&all);
    sure(sigprocmask(SIG_SETMASK, &all, &before), "sigprocmask");
    int64_t begin = now(CLOCK_MONOTONIC);
    rest(60);
    lasted("nanosleep with everything blocked", begin, 60);
    sigprocmask(SIG_SETMASK, NULL, &after);
    fact(sigismember(&after, SIGTERM) == 1 && sigismember(&after, SIGUSR1) == 1, "the mask is still there");
    fact(sigismember(&before, SIGTERM) == 0, "the mask from before was told");
    raise(SIGUSR2);
    sigset_t waiting;
    sigpending(&waiting);
    fact(sigismember(&waiting, SIGUSR2) == 1, "a blocked signal waits");
    on(SIGUSR2, count_in_handler, 0);
    sigprocmask(SIG_SETMASK, &before, &after);
    fact(atomic_load(&handled) == 1, "it comes once it may");
    fact(sigismember(&after, SIGTERM) == 1, "the mask from before was told again");
    // Without libc between.
    uint64_t every = ~0ULL;
    sure((int)syscall(SYS_rt_sigprocmask, SIG_BLOCK, &every, NULL, 8), "rt_sigprocmask");
    begin = now(CLOCK_MONOTONIC);
    rest(60);
    lasted("again, by its number", begin, 60);
}

static void restart(void) {
    struct sigaction action = {.sa_handler = count_in_handler, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    begin_signalling();
    struct timespec minute = span(60), left = {0};
    int64_t begin = now(CLOCK_MONOTONIC);
    int result = nanosleep(&minute, &left);
    fact(result == -1 && errno == EINTR, "no wait with a timeout is begun anew: %d", result);
    lasted("nanosleep", begin, 5);
    begin_signalling();
    begin = now(CLOCK_MONOTONIC);
    result = poll(NULL, 0, (int)(seconds(60) / 1000000));
    fact(result == -1 && errno == EINTR, "nor poll: %d", result);
    lasted("poll", begin, 5);
}

static void jump(void) {
    on(SIGUSR1, jump_in_handler, 0);
    int64_t begin = now(CLOCK_MONOTONIC);
    if (sigsetjmp(way_out, 1) == 0) {
        begin_signalling();
        rest(3600);
    }
    lasted("a wait that was jumped out of", begin, 5);
    rest(7200);
    lasted("and another", begin, 7205);
}

static void *sleep_long(void *unused) {
    rest(3600);
    return unused;
}

static void cancel(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_long, NULL);
    int64_t begin = now(CLOCK_MONOTONIC);
    rest(5);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    lasted("a wait that was cancelled", begin, 5);
    rest(7200);
    lasted("and another", begin, 7205);
}

static void own_handler(void) {
    on(SIGSYS, count_in_handler, 0);
    int64_t begin = now(CLOCK_MONOTONIC);
    rest(60);
    lasted("under its own handler", begin, 60);
    signal(SIGSYS, SIG_IGN);
    rest(60);
    lasted("ignored", begin, 120);
    signal(SIGSYS, SIG_DFL);
    rest(60);
    lasted("as it was", begin, 180);
    fact(atomic_load(&handled) == 0, "its handler has not been troubled");
}

static void raise_it(void) {
    say("raising");
    raise(SIGSYS);
    fact(0, "SIGSYS was survived");
}

static void wait_only(void) {
    say("waiting");
    int64_t begin = now(CLOCK_MONOTONIC);
    rest(600);
    fact(in_seconds(now(CLOCK_MONOTONIC) - begin) >= 600, "ten minutes were waited for");
}

static const struct {
    const char *name;
    void (*play)(void);
} cases[] = {
    {"term", term},                 // a handler runs during a long wait, and ends the program
    {"masks", masks},               // calls that bring their own mask, under which a handler waits
    {"handler-mask", handler_mask}, // a handler that blocks everything, and waits
    {"blocked", blocked},           // waits while everything is blocked
    {"restart", restart},           // a handler that asks for calls to be begun anew
    {"jump", jump},                 // a handler that never returns to the wait
    {"cancel", cancel},             // a thread that is cancelled in its wait
    {"own-handler", own_handler},   // a handler of its own for the signal we need
    {"raise", raise_it},            // a program that dies of that signal, by its own will
    {"wait", wait_only},            // somebody else does things to it meanwhile
};

int main(int count, char **words) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (count == 2 && strcmp(words[1], cases[i].name) == 0) {
            cases[i].play();
            return verdict();
        }
    }
    return 2;
}
