/*
 * masks.c - DAT_DBG_TYPE, DAPL_DBG_TYPE: each bit enables the log lines of one subject. DAT_LOG
 * sets a level.
 */
#define _POSIX_C_SOURCE 200809L
#include "common/fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if UDAPL == 12
#define LIBRARY "libdat: debug: "
#else
#define LIBRARY "libdat2: debug: "
#endif

/* Path for the standard error of the second process. */
#define INTO "DAT_TEST_MASKS"

/* Triggers the low watermark of an SRQ. */
static void below(struct fx *fx, struct region *r)
{
    DAT_SRQ_ATTR attr = { .max_recv_dtos = 4, .max_recv_iov = 1, .low_watermark = DAT_SRQ_LW_DEFAULT };
    DAT_LMR_TRIPLET iov = segment(r, 0, 64);
    DAT_SRQ_HANDLE srq;
    DAT_EVENT event;

    must_rc(dat_srq_create(fx->ia, fx->pz, &attr, &srq), DAT_SUCCESS, "dat_srq_create");
    must_rc(dat_srq_post_recv(srq, 1, &iov, cookie(1)), DAT_SUCCESS, "dat_srq_post_recv");
    must_rc(dat_srq_set_lw(srq, 2), DAT_SUCCESS, "dat_srq_set_lw");
    must(wait_event(fx->async, &event), "no event of the low watermark");
    must_rc(dat_srq_free(srq), DAT_SUCCESS, "dat_srq_free");
}

static void too_long(struct fx *fx, struct region *r)
{
    struct pair p;

    pair_open(&p, fx, NULL);
    must_rc(post_recv(&p.b, r, 0, 8, 3), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_send(&p.a, r, 0, 64, 4), DAT_SUCCESS, "dat_ep_post_send");
    must(wait_dto(p.b.recv, 3, DAT_DTO_ERR_LOCAL_LENGTH, NULL), "the receive does not fail");
    pair_close(&p);
}

/* The second process: causes at least one log line of each subject. */
static int actor(struct link *up)
{
    int fd = open(getenv(INTO), O_WRONLY | O_TRUNC | O_CLOEXEC);
    struct fx fx;
    struct region near, far;
    DAT_RMR_TRIPLET gone;
    struct pair p;

    (void)up;
    must(fd >= 0 && dup2(fd, STDERR_FILENO) >= 0, "no file for the lines");
    fx_open(&fx);
    must(dat_pz_create(fx.ia, NULL) != DAT_SUCCESS, "a zone without a handle");
    region_make(&fx, &near, 64, MEM_LOCAL);
    region_make(&fx, &far, 64, MEM_LOCAL | DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
    below(&fx, &near);
    pair_open(&p, &fx, NULL);
    must(sides_talk(&p.a, &p.b), "no messages");
    gone = target(&far, 0, 64);
    region_free(&far);
    must_rc(post_write(&p.a, &near, 0, 64, gone, 2), DAT_SUCCESS, "dat_ep_post_rdma_write");
    must(wait_dto(p.a.req, 2, DAT_DTO_ERR_REMOTE_ACCESS, NULL), "the write is not refused");
    must(wait_connection(p.a.conn, DAT_CONNECTION_EVENT_BROKEN), "the connection is not broken");
    pair_close(&p);
    too_long(&fx, &near);
    fx_close(&fx);
    return 0;
}

/* Removes the process id from each line. Returns false if a line does not contain it. */
static bool take_pid(char *text, pid_t pid)
{
    char number[32], *found, *end;
    int length = snprintf(number, sizeof number, "[%d]: ", (int)pid);

    for (char *line = text; (end = strchr(line, '\n')) != NULL; line = strchr(line, '\n') + 1) {
        found = strstr(line, number);
        if (found == NULL || found > end)
            return false;
        memmove(found, found + length - 2, strlen(found + length - 2) + 1);
    }
    return true;
}

/*
 * Returns the log of a second process with this variable set. The text is valid until the next
 * call.
 */
static const char *lines_of(const char *variable, const char *value)
{
    static char text[1 << 16];
    const char *path = getenv(INTO);
    struct peer p;
    size_t used;
    pid_t pid;
    FILE *file;

    setenv(variable, value, 1);
    peer_start(&p, "actor");
    pid = p.pid;
    unsetenv(variable);
    peer_ok(&p, "%s=%s: the process ends well", variable, value);
    file = fopen(path, "r");
    if (file == NULL)
        bail("%s cannot be read", path);
    used = fread(text, 1, sizeof text - 1, file);
    text[used] = '\0';
    fclose(file);
    ok(take_pid(text, pid), "%s=%s: each line has the number of the process", variable, value);
    return text;
}

/* The subjects: the variable and the bit that enable a subject, and a part of one of its lines. */
static const struct {
    const char *variable, *bit, *line;
} subjects[] = {
    { "DAT_DBG_TYPE", "0x4", " the configuration" },
    { "DAT_DBG_TYPE", "0x8", ": a provider registers" },
    { "DAT_DBG_TYPE", "0x10", "dat_registry_add_provider returns 0x00000000 DAT_SUCCESS\n" },
    { "DAT_DBG_TYPE", "0x20", LIBRARY "dat_ia_openv returns 0x00000000 DAT_SUCCESS\n" },
    { "DAT_DBG_TYPE", "0x20", LIBRARY "dat_ia_openv provider=" },
    { "DAPL_DBG_TYPE", "0x4", "debug: event dispatcher " },
    { "DAPL_DBG_TYPE", "0x8", ": connects to qualifier " },
    { "DAPL_DBG_TYPE", "0x10", ", then DAT_EP_STATE_CONNECTED" },
    { "DAPL_DBG_TYPE", "0x40", ": DAT_CONNECTION_EVENT_BROKEN" },
    { "DAPL_DBG_TYPE", "0x80", ": a request with cookie 0x2 ends: DAT_DTO_ERR_REMOTE_ACCESS" },
    { "DAPL_DBG_TYPE", "0x80", ": a receive with cookie 0x3 ends: DAT_DTO_ERR_LOCAL_LENGTH" },
    { "DAPL_DBG_TYPE", "0x100", "debug: dat_ep_connect ep_handle=0x" },
    { "DAPL_DBG_TYPE", "0x200", "dat_ep_connect returns 0x00000000 DAT_SUCCESS\n" },
    { "DAPL_DBG_TYPE", "0x200", "dat_pz_create returns 0x00000000 DAT_SUCCESS pz_handle=0x" },
    { "DAPL_DBG_TYPE", "0x200", " DAT_INVALID_PARAMETER DAT_INVALID_ARG2\n" },
    { "DAPL_DBG_TYPE", "0x800", ": below the low watermark" },
    { "DAPL_DBG_TYPE", "0x1000", " sends of " },
    { "DAPL_DBG_TYPE", "0x4000", " begins" },
};
#define SUBJECTS (sizeof subjects / sizeof *subjects)

/* Returns whether the same bit enables two subjects. */
static bool together(size_t i, size_t k)
{
    return strcmp(subjects[i].variable, subjects[k].variable) == 0 && strcmp(subjects[i].bit, subjects[k].bit) == 0;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "actor", actor }, { NULL, NULL } };
    char path[] = "/tmp/dat-test-masks-XXXXXX";
    const char *text;
    char zone;
    int fd;

    env_init(argc, argv, roles);
    if (env_is_iwarp())
        skip_all("over iWARP a refused write or message has no completion that a line could tell");
    fd = mkstemp(path);
    if (fd < 0 || close(fd) != 0 || setenv(INTO, path, 1) != 0)
        bail("no temporary file");

    for (size_t i = 0; i < SUBJECTS; i++) {
        text = lines_of(subjects[i].variable, subjects[i].bit);
        for (size_t k = 0; k < SUBJECTS; k++)
            ok((strstr(text, subjects[k].line) != NULL) == together(i, k), "%s=%s: %s \"%.*s\"",
               subjects[i].variable, subjects[i].bit, together(i, k) ? "tells" : "does not tell",
               (int)strcspn(subjects[k].line, "\n"), subjects[k].line);
    }
    text = lines_of("DAPL_DBG_TYPE", "3");
    ok(strstr(text, ": debug: ") == NULL, "DAPL_DBG_TYPE=3: errors and warnings alone");
    text = lines_of("DAPL_DBG_TYPE", "0");
    is_int((long)strlen(text), 0, "DAPL_DBG_TYPE=0: nothing");
    text = lines_of("DAT_LOG", "warn");
    ok(strstr(text, ": debug: ") == NULL, "DAT_LOG=warn: errors and warnings alone");
    text = lines_of("DAT_LOG", "off");
    is_int((long)strlen(text), 0, "DAT_LOG=off: nothing");
    for (int i = 0; i < 3; i++) {
        static const char *const all[][2] = {
            { "DAT_DBG_TYPE", "0xffff" }, { "DAPL_DBG_TYPE", "0xffff" }, { "DAT_LOG", "debug,time" },
        };
        int missing = 0;

        text = lines_of(all[i][0], all[i][1]);
        for (size_t k = 0; k < SUBJECTS; k++)
            missing += strstr(text, subjects[k].line) == NULL;
        is_int(missing, 0, "%s=%s: all subjects of all libraries", all[i][0], all[i][1]);
    }
    ok(sscanf(text, "%*2u:%*2u:%*2u.%*6u%c", &zone) == 1 && zone == 'Z', "DAT_LOG=debug,time: lines begin with the time");
    unlink(path);
    return done_testing();
}
