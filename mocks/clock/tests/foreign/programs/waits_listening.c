// The calls of waits.c that wait for something to read: files, queues of messages and rings.
#include "waits.h"
#include <fcntl.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <sys/epoll.h>
#include <sys/mman.h>

static void open_pipe(struct wait *wait) {
    int ends[2];
    sure(pipe(ends), "pipe");
    wait->reading = ends[0];
    wait->writing = ends[1];
}

static void write_pipe(struct wait *wait) {
    sure((int)write(wait->writing, "!", 1), "write");
}

static int milliseconds(const struct wait *wait) {
    return (int)(seconds(wait->length) / 1000000);
}

static int poll_it(struct wait *wait) {
    struct pollfd wanted = {.fd = wait->reading, .events = POLLIN};
    return outcome(syscall(SYS_poll, &wanted, 1, milliseconds(wait)));
}

static int ppoll_it(struct wait *wait) {
    struct pollfd wanted = {.fd = wait->reading, .events = POLLIN};
    struct timespec left = span(wait->length);
    int result = outcome(syscall(SYS_ppoll, &wanted, 1, &left, NULL, 8));
    wait->left = in_seconds(nanos(left));
    return result;
}

// Afterwards the sets hold what was found: the end to read from, or nothing. If the call failed, they are as before.
static int chosen(const struct wait *wait, int result, fd_set *reading, fd_set *writing) {
    if (result < 0) {
        return FD_ISSET(wait->reading, reading) && FD_ISSET(wait->reading, writing) ? result : -EIO;
    }
    int right = !FD_ISSET(wait->reading, reading) == (result == 0) && !FD_ISSET(wait->reading, writing);
    return right ? result : -EIO;
}

static int select_it(struct wait *wait) {
    fd_set reading, writing;
    FD_ZERO(&reading);
    FD_ZERO(&writing);
    FD_SET(wait->reading, &reading);
    FD_SET(wait->reading, &writing);
    int64_t length = seconds(wait->length);
    struct timeval left = {.tv_sec = length / NANO, .tv_usec = length % NANO / 1000};
    int result = outcome(syscall(SYS_select, wait->reading + 1, &reading, &writing, NULL, &left));
    wait->left = in_seconds(left.tv_sec * NANO + left.tv_usec * 1000);
    return chosen(wait, result, &reading, &writing);
}

static int pselect_it(struct wait *wait) {
    fd_set reading, writing;
    FD_ZERO(&reading);
    FD_ZERO(&writing);
    FD_SET(wait->reading, &reading);
    FD_SET(wait->reading, &writing);
    struct timespec left = span(wait->length);
    int result = outcome(syscall(SYS_pselect6, wait->reading + 1, &reading, &writing, NULL, &left, NULL));
    wait->left = in_seconds(nanos(left));
    return chosen(wait, result, &reading, &writing);
}

// Without any file it is a sleep.
static int select_nothing(struct wait *wait) {
    int64_t length = seconds(wait->length);
    struct timeval left = {.tv_sec = length / NANO, .tv_usec = length % NANO / 1000};
    return outcome(syscall(SYS_select, 0, NULL, NULL, NULL, &left));
}

static void interrupt(struct wait *wait) {
    pthread_kill(wait->waiter, SIGUSR1);
}

static void open_epoll(struct wait *wait) {
    open_pipe(wait);
    wait->epoll = sure(epoll_create1(0), "epoll_create1");
    struct epoll_event wanted = {.events = EPOLLIN};
    sure(epoll_ctl(wait->epoll, EPOLL_CTL_ADD, wait->reading, &wanted), "epoll_ctl");
}

static int epoll_it(struct wait *wait) {
    struct epoll_event found[4];
    return outcome(syscall(SYS_epoll_wait, wait->epoll, found, 4, milliseconds(wait)));
}

static int epoll_pwait_it(struct wait *wait) {
    struct epoll_event found[4];
    return outcome(syscall(SYS_epoll_pwait, wait->epoll, found, 4, milliseconds(wait), NULL, 8));
}

static int epoll_pwait2_it(struct wait *wait) {
    struct epoll_event found[4];
    struct timespec length = span(wait->length);
    return outcome(syscall(441, wait->epoll, found, 4, &length, NULL, 8));
}

static void open_queue(struct wait *wait) {
    char name[64];
    snprintf(name, sizeof name, "/mock-clock-%d-%p", (int)getpid(), (void *)wait);
    struct mq_attr kind = {.mq_maxmsg = 1, .mq_msgsize = 8};
    wait->queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &kind);
    mq_unlink(name);
}

static void open_full_queue(struct wait *wait) {
    open_queue(wait);
    if (wait->queue >= 0) {
        sure(mq_send(wait->queue, "1", 1, 0), "mq_send");
    }
}

static int receive(struct wait *wait) {
    char message[8];
    struct timespec moment = at(CLOCK_REALTIME, wait->length);
    return wait->queue < 0 ? ABSENT
                           : outcome(mq_timedreceive(wait->queue, message, sizeof message, NULL, &moment));
}

static int send_one(struct wait *wait) {
    struct timespec moment = at(CLOCK_REALTIME, wait->length);
    return wait->queue < 0 ? ABSENT : outcome(mq_timedsend(wait->queue, "2", 1, 0, &moment));
}

static void fill(struct wait *wait) {
    mq_send(wait->queue, "3", 1, 0);
}

static void drain(struct wait *wait) {
    char message[8];
    mq_receive(wait->queue, message, sizeof message, NULL);
}

static void open_ring(struct wait *wait) {
    struct io_uring_params made = {0};
    wait->queue = (int)syscall(SYS_io_uring_setup, 4, &made);
    if (wait->queue < 0 || !(made.features & IORING_FEAT_EXT_ARG) || !(made.features & IORING_FEAT_SINGLE_MMAP)) {
        wait->queue = -1;
        return;
    }
    size_t length = made.sq_off.array + made.sq_entries * sizeof(uint32_t);
    int shared = PROT_READ | PROT_WRITE;
    char *ring = mmap(NULL, length, shared, MAP_SHARED, wait->queue, IORING_OFF_SQ_RING);
    struct io_uring_sqe *orders = mmap(NULL, made.sq_entries * sizeof(struct io_uring_sqe), shared, MAP_SHARED,
                                       wait->queue, IORING_OFF_SQES);
    memset(orders, 0, sizeof *orders);
    orders[0].opcode = IORING_OP_NOP;
    ((uint32_t *)(void *)(ring + made.sq_off.array))[0] = 0;
    wait->ring = ring + made.sq_off.tail;
}

static int ring_wait(struct wait *wait) {
    if (wait->queue < 0) {
        return ABSENT;
    }
    struct timespec length = span(wait->length);
    struct io_uring_getevents_arg arguments = {.ts = (uint64_t)(uintptr_t)&length};
    unsigned flags = IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG;
    return outcome(syscall(SYS_io_uring_enter, wait->queue, 0, 1, flags, &arguments, sizeof arguments));
}

static void order_nothing(struct wait *wait) {
    if (wait->queue >= 0) {
        atomic_store((atomic_uint *)wait->ring, 1);
        syscall(SYS_io_uring_enter, wait->queue, 1, 0, 0, NULL, 0);
    }
}

const struct call listening_calls[] = {
    {"poll", open_pipe, poll_it, write_pipe, 0, 1, 0},
    {"ppoll", open_pipe, ppoll_it, write_pipe, 0, 1, 1},
    {"select", open_pipe, select_it, write_pipe, 0, 1, 1},
    {"select without files", NULL, select_nothing, interrupt, 0, -EINTR, 0},
    {"pselect6", open_pipe, pselect_it, write_pipe, 0, 1, 1},
    {"select, interrupted", open_pipe, select_it, interrupt, 0, -EINTR, 1},
    {"pselect6, interrupted", open_pipe, pselect_it, interrupt, 0, -EINTR, 1},
    {"poll, interrupted", open_pipe, poll_it, interrupt, 0, -EINTR, 0},
    {"ppoll, interrupted", open_pipe, ppoll_it, interrupt, 0, -EINTR, 1},
    {"epoll_wait", open_epoll, epoll_it, write_pipe, 0, 1, 0},
    {"epoll_wait, interrupted", open_epoll, epoll_it, interrupt, 0, -EINTR, 0},
    {"epoll_pwait", open_epoll, epoll_pwait_it, write_pipe, 0, 1, 0},
    {"epoll_pwait2", open_epoll, epoll_pwait2_it, write_pipe, 0, 1, 0},
    {"mq_timedreceive", open_queue, receive, fill, -ETIMEDOUT, 1, 0},
    {"mq_timedsend", open_full_queue, send_one, drain, -ETIMEDOUT, 0, 0},
    {"io_uring_enter", open_ring, ring_wait, order_nothing, -ETIME, 0, 0},
    {NULL, NULL, NULL, NULL, 0, 0, 0},
};
