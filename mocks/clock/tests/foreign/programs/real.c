// Asks the kernel for a timeout that no clock of ours moves, says so, and waits to be told to end.
#include "judge.h"
#include <sys/socket.h>

int main(void) {
    int ends[2];
    sure(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    struct timeval length = {1, 0};
    sure(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &length, sizeof length), "setsockopt");
    puts("done");
    fflush(stdout);
    (void)getchar();
    return verdict();
}
