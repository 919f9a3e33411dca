// datagrams: recvmmsg, whose time Linux looks at only when a datagram has come.
//
// One comes every 25 s. Who waits a minute for eight of them has three, after 75 s; who waits for two has them after
// 50 s. If the kernel counted the minute in real time, a fourth would be waited for.
#include "judge.h"
#include <sys/socket.h>

static int ends[2];
static atomic_int done;

static void *send_all(void *unused) {
    while (!atomic_load(&done)) {
        rest(25);
        send(ends[1], "!", 1, 0);
    }
    return unused;
}

static void receive(unsigned wanted, int expected, double due) {
    sure(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), "socketpair");
    char room[8][4];
    struct iovec places[8];
    struct mmsghdr messages[8];
    memset(messages, 0, sizeof messages);
    for (int i = 0; i < 8; i++) {
        places[i] = (struct iovec){room[i], sizeof room[i]};
        messages[i].msg_hdr.msg_iov = &places[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    atomic_store(&done, 0);
    pthread_t sender;
    pthread_create(&sender, NULL, send_all, NULL);
    struct timespec left = span(60);
    int64_t begin = now(CLOCK_MONOTONIC);
    long result = syscall(SYS_recvmmsg, ends[0], messages, wanted, 0, &left);
    double took = in_seconds(now(CLOCK_MONOTONIC) - begin), rest_s = in_seconds(nanos(left));
    fact(result == expected, "%ld datagrams of %u, not %d", result, wanted, expected);
    // The sender has begun a little later or earlier.
    fact(took > due - 0.5 && took < due + 1, "%u datagrams: after %.4f s of %g", wanted, took, due);
    double left_due = due < 60 ? 60 - due : 0;
    fact(rest_s > left_due - 1 && rest_s < left_due + 0.5, "%u datagrams: %.4f s left", wanted, rest_s);
    atomic_store(&done, 1);
    pthread_join(sender, NULL);
    close(ends[0]);
    close(ends[1]);
}

int main(void) {
    receive(8, 3, 75);
    receive(2, 2, 50);
    return verdict();
}
