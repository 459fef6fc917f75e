/*
 * introduce.c FILE TEXT - relays between the server and the client of dtestx while they exchange their addresses.
 *
 * The server creates its service point after this exchange, and then writes TEXT to FILE. A client for datagrams that
 * connects earlier is rejected, and waits indefinitely. So this program prints "ready" and accepts the client only
 * after FILE contains TEXT. Then it sends the server's message to the client.
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Port of the exchange, and size of each message. */
enum { PORT = 15828, MESSAGE = 128 };

static void need(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(1);
}

static int any_socket(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    need(fd >= 0, "socket");
    need(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)) == 0, "setsockopt");
    return fd;
}

static int says(const char *path, const char *text)
{
    char line[1024];
    FILE *file = fopen(path, "r");
    int found = 0;

    need(file != NULL, path);
    while (!found && fgets(line, sizeof line, file) != NULL)
        found = strstr(line, text) != NULL;
    fclose(file);
    return found;
}

int main(int argc, char **argv)
{
    struct sockaddr_in here;
    char message[MESSAGE];
    int server, listener, client;

    need(argc == 3, "usage");
    memset(&here, 0, sizeof here);
    here.sin_family = AF_INET;
    here.sin_port = htons(PORT);
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server = any_socket();
    need(connect(server, (struct sockaddr *)&here, sizeof here) == 0, "connect");
    need(recv(server, message, MESSAGE, MSG_WAITALL) == MESSAGE, "the server's message");
    need(send(server, message, MESSAGE, MSG_NOSIGNAL) == MESSAGE, "the answer to the server");
    while (!says(argv[1], argv[2]))
        nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
    listener = any_socket();
    need(bind(listener, (struct sockaddr *)&here, sizeof here) == 0 && listen(listener, 1) == 0, "listen");
    puts("ready");
    fflush(stdout);
    client = accept(listener, NULL, NULL);
    need(client >= 0, "accept");
    need(send(client, message, MESSAGE, MSG_NOSIGNAL) == MESSAGE, "the message to the client");
    need(recv(client, message, MESSAGE, MSG_WAITALL) == MESSAGE, "the client's answer");
    return 0;
}
