// client PORT POLLS PERIOD_S TIMEOUT_S LONGEST_S: asks a server for its time, again and again.
//
// The server's time must lie between the moments before the question and after the answer. An answer that does not
// come within the timeout is a failure; so is a round trip that seems to have lasted longer than LONGEST_S.
#include "judge.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

static int connected(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int socket_fd = sure(socket(AF_INET, SOCK_STREAM, 0), "socket");
    sure(connect(socket_fd, (struct sockaddr *)&address, sizeof address), "connect");
    return socket_fd;
}

// The answer as a number, or -1 if it did not come in time.
static int64_t ask(int server, double timeout_s) {
    sure((int)write(server, "?\n", 2), "write");
    char line[64] = "";
    size_t length = 0;
    while (length == 0 || line[length - 1] != '\n') {
        struct pollfd wanted = {.fd = server, .events = POLLIN};
        if (poll(&wanted, 1, (int)(timeout_s * 1000)) != 1) {
            return -1;
        }
        int part = sure((int)read(server, line + length, sizeof line - 1 - length), "read");
        if (part == 0) {
            return -1;
        }
        length += (size_t)part;
    }
    return atoll(line);
}

int main(int count, char **words) {
    if (count != 6) {
        return 2;
    }
    int polls = atoi(words[2]), outside = 0;
    double period = atof(words[3]), timeout = atof(words[4]), longest_allowed = atof(words[5]);
    int server = connected(atoi(words[1]));
    int64_t longest = 0;
    int64_t due = now(CLOCK_MONOTONIC);
    for (int i = 0; i < polls; i++) {
        due += seconds(period);
        struct timespec moment = timespec_of(due);
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL);
        int64_t before = now(CLOCK_REALTIME);
        int64_t told = ask(server, timeout);
        int64_t after = now(CLOCK_REALTIME);
        if (told < 0) {
            fact(0, "poll %d was not answered within %g s", i, timeout);
            break;
        }
        outside += told < before || told > after;
        longest = after - before > longest ? after - before : longest;
    }
    fact(outside == 0, "%d of %d answers were not of the time of the question", outside, polls);
    fact((double)longest / 1e9 < longest_allowed, "the longest round trip took %.3f ms", (double)longest / 1e6);
    return verdict();
}
