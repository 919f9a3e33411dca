// kin CASE: processes that a program starts, in every way there is to start them, and threads in great numbers.
#include "judge.h"
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;
static const char *self;

// The exit code of a child, or minus the signal it died of.
static int ended(pid_t child) {
    int status = 0;
    sure(waitpid(child, &status, 0), "waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void fork_only(void) {
    int64_t begin = now(CLOCK_MONOTONIC);
    pid_t child = sure(fork(), "fork");
    rest(child == 0 ? 300 : 600);
    if (child == 0) {
        _exit(in_seconds(now(CLOCK_MONOTONIC) - begin) >= 300 ? 3 : 4);
    }
    lasted("the parent", begin, 600);
    int code = ended(child);
    fact(code == 3, "the child slept beside it: %d", code);
    lasted("both", begin, 600);
}

// The child outlives the one between, so that it is nobody's child any more.
static void orphan(void) {
    int ends[2];
    sure(pipe(ends), "pipe");
    int64_t begin = now(CLOCK_MONOTONIC);
    pid_t between = sure(fork(), "fork");
    if (between == 0) {
        if (fork() == 0) {
            setsid();
            rest(600);
            (void)!write(ends[1], "!", 1);
        }
        _exit(0);
    }
    fact(ended(between) == 0, "the one between is gone");
    close(ends[1]);
    char told = 0;
    fact(read(ends[0], &told, 1) == 1, "the orphan is heard");
    lasted("the orphan", begin, 600);
}

static char *nap[] = {"sleep", "300", NULL};

static void spawned(void) {
    int64_t begin = now(CLOCK_MONOTONIC);
    pid_t child;
    int result = posix_spawnp(&child, "sleep", NULL, NULL, nap, environ);
    fact(result == 0, "posix_spawn: %d", result);
    fact(ended(child) == 0, "it has slept");
    lasted("posix_spawn", begin, 300);
    begin = now(CLOCK_MONOTONIC);
    child = vfork();
    if (child == 0) {
        execvp("sleep", nap);
        _exit(9);
    }
    fact(ended(child) == 0, "it has slept");
    lasted("vfork", begin, 300);
    begin = now(CLOCK_MONOTONIC);
    child = fork();
    if (child == 0) {
        char *bare[] = {NULL};
        execve("/bin/sleep", nap, bare);
        _exit(9);
    }
    fact(ended(child) == 0, "it has slept");
    lasted("with no environment", begin, 300);
}

static void refused(const char *program, int expected) {
    char *words[] = {"program", NULL};
    int result = execve(program, words, environ);
    fact(result == -1 && errno == expected, "exec of %s: %d, %s", program, result, strerror(errno));
    // The program goes on, and its time with it.
    int64_t begin = now(CLOCK_MONOTONIC);
    rest(60);
    lasted("a wait after it", begin, 60);
    pid_t child;
    result = posix_spawn(&child, program, NULL, NULL, words, environ);
    fact(result == expected, "posix_spawn of %s: %s", program, strerror(result));
}

static void failing(void) {
    refused("/nowhere/at/all", ENOENT);
    refused("/tmp", EACCES);
    refused("/etc/passwd", EACCES);
    refused("/etc/passwd/inside", ENOTDIR);
    fact(syscall(SYS_execve, 8L, NULL, NULL) == -1 && errno == EFAULT, "exec of nowhere in memory");
    spawned();
}

static void *wait_long(void *unused) {
    rest(36000);
    return unused;
}

// Threads that wait are gone with the program they belonged to.
static void exec_beside_waits(void) {
    pthread_t thread;
    for (int i = 0; i < 3; i++) {
        pthread_create(&thread, NULL, wait_long, NULL);
    }
    rest(5);
    execl(self, self, "tired", (char *)NULL);
    fact(0, "exec: %s", strerror(errno));
}

static void *exec_from_thread(void *unused) {
    rest(5);
    execl(self, self, "tired", (char *)NULL);
    return unused;
}

static void exec_aside(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, exec_from_thread, NULL);
    rest(36000);
}

static void tired(void) {
    int64_t begin = now(CLOCK_MONOTONIC);
    rest(600);
    lasted("the new program", begin, 600);
}

// Many exec at the same time.
static void *start_one(void *unused) {
    pid_t child;
    int result = posix_spawnp(&child, "sleep", NULL, NULL, nap, environ);
    fact(result == 0 && ended(child) == 0, "one of many: %d", result);
    return unused;
}

static void many(void) {
    pthread_t threads[20];
    int64_t begin = now(CLOCK_MONOTONIC);
    for (int i = 0; i < 20; i++) {
        pthread_create(&threads[i], NULL, start_one, NULL);
    }
    for (int i = 0; i < 20; i++) {
        pthread_join(threads[i], NULL);
    }
    lasted("twenty at once", begin, 300);
}

// More threads wait than there is room for. They are let go by a line on standard input.
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int open_gate;

static void *wait_at_gate(void *unused) {
    struct timespec moment = at(CLOCK_REALTIME, 36000);
    pthread_mutex_lock(&gate);
    while (!open_gate && pthread_cond_timedwait(&opened, &gate, &moment) == 0) {
    }
    pthread_mutex_unlock(&gate);
    return unused;
}

static void crowd(void) {
    enum { THREADS = 1100 };
    static pthread_t threads[THREADS];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int i = 0; i < THREADS; i++) {
        sure(-pthread_create(&threads[i], &small, wait_at_gate, NULL), "pthread_create");
    }
    puts("waiting");
    fflush(stdout);
    (void)getchar();
    pthread_mutex_lock(&gate);
    open_gate = 1;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    int64_t begin = now(CLOCK_MONOTONIC);
    rest(600);
    lasted("after the crowd", begin, 600);
}

static const struct {
    const char *name;
    void (*play)(void);
} cases[] = {
    {"fork", fork_only},         {"orphan", orphan},         {"spawn", spawned}, {"failing", failing},
    {"exec", exec_beside_waits}, {"exec-aside", exec_aside}, {"tired", tired},   {"many", many},
    {"crowd", crowd},
};

int main(int count, char **words) {
    self = words[0];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (count == 2 && strcmp(words[1], cases[i].name) == 0) {
            cases[i].play();
            return verdict();
        }
    }
    return 2;
}
