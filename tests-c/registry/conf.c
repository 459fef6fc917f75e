/* conf.c - the syntax of dat.conf, see dat.conf(4). */
#include "registry/entries.h"

#include "common/tap.h"

#include <stdio.h>
#include <string.h>

#define ROOM 64
static DAT_PROVIDER_INFO entries[ROOM];

/* Returns the listed names with their thread safety: "a/0 b/1". */
static const char *listed(void)
{
    static char text[4096];
    DAT_PROVIDER_INFO *list[ROOM];
    DAT_COUNT n = 0;
    size_t used = 0;

    for (int i = 0; i < ROOM; i++)
        list[i] = &entries[i];
    text[0] = '\0';
    if (dat_registry_list_providers(ROOM, &n, list) != DAT_SUCCESS)
        return "failed";
    for (int i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.40s/%u", i > 0 ? " " : "",
                                 entries[i].ia_name, (unsigned)entries[i].is_thread_safe);
    return text;
}

static void is_listed(const char *want, const char *what)
{
    const char *got = listed();

    if (!scene_ok(strcmp(got, want) == 0, "%s", what))
        scene_ok(false, "listed: %s", got);
}

static void sample(void)
{
    DAT_IA_HANDLE ia;

    is_listed("ibd0/0 ibd0/1", "the sample has two entries, in order");
    scene_ok(entries[0].dapl_version_major == DAT_VERSION_MAJOR && entries[0].dapl_version_minor == DAT_VERSION_MINOR,
             "version " API_VERSION);
    scene_opens("ibd0", &ia);
    scene_log("init ibd0 " API_VERSION " 0 inst \"a\" \\ b\nadd 0x00000000\nopen ibd0\n",
              "instance data with escapes arrive; the first of two equal entries stands");
    scene_closes(ia);
    scene_not_found("ibd1", DAT_NAME_NOT_REGISTERED);
    scene_not_found("ibd2", DAT_NAME_NOT_REGISTERED);
    scene_not_found("ibd3", DAT_NAME_NOT_REGISTERED);
}

static void good_lines(void)
{
    is_listed("plain/0 blanks/0 all-quoted/1 #no-comment/0 mid#dle/0 back\\slash/0 joined/0 "
              "crlf/0 two words/0 last/0",
              "every form of a good line is an entry");
}

static const char good_conf[] =
    "\n \t\n# comment\n   # comment after blanks\n"
    "plain " CONF_API " nonthreadsafe default l L.1.0 \"\" \"\"\n"
    "  \t blanks \t " CONF_API "\tnonthreadsafe   default l L.1.0 \"\" \"\" \t # trailing\n"
    "\"all-quoted\" \"" CONF_API "\" \"threadsafe\" \"default\" \"l\" \"L.1.0\" \"x\" \"y\"\n"
    "\"#no-comment\" " CONF_API " nonthreadsafe default l L.1.0 \"#\" \"\"\n"
    "mid#dle " CONF_API " nonthreadsafe default l L.1.0 bare#1 \"\"\n"
    "back\\slash " CONF_API " nonthreadsafe default l L.1.0 \\ \"\"\n"
    "joined " CONF_API " nonthreadsafe default l L.1.0\"\"\"\"\n"
    "crlf " CONF_API " nonthreadsafe default l L.1.0 \"\" \"\"\r\n"
    "\"two words\" " CONF_API " nonthreadsafe default l L.1.0 \"\" \"\"\n"
    "last " CONF_API " nonthreadsafe default l L.1.0 \"\" \"\"";

static void bad_lines(void)
{
    is_listed(UDAPL == 12 ? "first/0 last/0" : "first/0 last/0 other/0", "lines that are no entry do not disturb the others");
}

#define LINE(name) name " " CONF_API " nonthreadsafe default l L.1.0 \"\" \"\"\n"
static const char bad_conf[] =
    LINE("first")
    "n1\n"
    "n2 " CONF_API "\n"
    "n3 " CONF_API " nonthreadsafe\n"
    "n4 " CONF_API " nonthreadsafe default\n"
    "n5 " CONF_API " nonthreadsafe default l\n"
    "n6 " CONF_API " nonthreadsafe default l L.1.0\n"
    "n7 " CONF_API " nonthreadsafe default l L.1.0 \"\"\n"
    "comment " CONF_API " nonthreadsafe default l L.1.0 \"\" # \"\"\n"
    "extra " CONF_API " nonthreadsafe default l L.1.0 \"\" \"\" extra\n"
    "version u1 nonthreadsafe default l L.1.0 \"\" \"\"\n"
    "version 1.2 nonthreadsafe default l L.1.0 \"\" \"\"\n"
    "version " CONF_API "x nonthreadsafe default l L.1.0 \"\" \"\"\n"
    "prefix " CONF_API " thread default l L.1.0 \"\" \"\"\n"
    "case " CONF_API " ThreadSafe default l L.1.0 \"\" \"\"\n"
    "prefix " CONF_API " nonthreadsafe defaults l L.1.0 \"\" \"\"\n"
    "provider " CONF_API " nonthreadsafe default l L.1 \"\" \"\"\n"
    "library " CONF_API " nonthreadsafe default \"\" L.1.0 \"\" \"\"\n"
    "quote " CONF_API " nonthreadsafe default l L.1.0 \"open \"\n"
    "quote " CONF_API " nonthreadsafe default l L.1.0 \"\" \"open\n"
    "continued " CONF_API " nonthreadsafe \\\n default l L.1.0 \"\" \"\"\n"
    "kernel k1.2 nonthreadsafe default l L.1.0 \"\" \"\"\n"
    "no-default " CONF_API " nonthreadsafe nondefault l L.1.0 \"\" \"\"\n"
    "other u" OTHER_VERSION " nonthreadsafe default l L.1.0 \"\" \"\"\n"
    LINE("last");

static void duplicates(void)
{
    is_listed("a/0 a/1 a/0 b/0", "same name: other version or thread safety is another entry");
    scene_ok(entries[2].dapl_version_minor == DAT_VERSION_MINOR + 1, "the third is version " API_NEXT);
}

static void long_names(void)
{
    DAT_IA_HANDLE ia;
    char name[DAT_NAME_MAX_LENGTH];

    memset(name, 'x', sizeof name);
    name[255] = '\0';
    is_listed("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx/0", "a name of 256 bytes is no entry");
    scene_ok(strcmp(entries[0].ia_name, name) == 0, "a name of 255 bytes is listed whole");
    scene_type(open_named(name, &ia), DAT_SUCCESS, "and can be opened");
    scene_closes(ia);
}

/* Opens adapter "a", and checks in the log that the entry with the instance data `by` serves the request. */
static void served(DAT_UINT32 minor, DAT_BOOLEAN safe, const char *by)
{
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia;
    char log[128], what[64];
    DAT_RETURN rc = dat_ia_openv((DAT_NAME_PTR) "a", 8, &evd, &ia, DAT_VERSION_MAJOR, minor, safe);

    snprintf(what, sizeof what, "%d.%u %s", DAT_VERSION_MAJOR, (unsigned)minor, safe ? "threadsafe" : "nonthreadsafe");
    if (!scene_type(rc, DAT_SUCCESS, "dat_ia_openv %s: success", what))
        return;
    snprintf(log, sizeof log, "init a %s\nadd 0x00000000\nopen a\n", by);
    scene_log(log, what);
    scene_closes(ia);
    scene_log_clear();
}

static DAT_RETURN openv(const char *name, DAT_UINT32 major, DAT_UINT32 minor, DAT_BOOLEAN safe)
{
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia;

    return dat_ia_openv((DAT_NAME_PTR)name, 8, &evd, &ia, major, minor, safe);
}

static void matching(void)
{
    served(DAT_VERSION_MINOR, DAT_FALSE, API_VERSION " 0 now");
    served(DAT_VERSION_MINOR, DAT_TRUE, API_LATER " 1 later-safe");
    for (int minor = 0; minor < DAT_VERSION_MINOR; minor++) {
        served((DAT_UINT32)minor, DAT_FALSE, API_VERSION " 0 now");
        served((DAT_UINT32)minor, DAT_TRUE, API_LATER " 1 later-safe");
    }
    served(DAT_VERSION_MINOR + 1, DAT_FALSE, API_LATER " 0 later");
    served(DAT_VERSION_MINOR + 2, DAT_TRUE, API_LATER " 1 later-safe");
    scene_code(openv("A", DAT_VERSION_MAJOR, DAT_VERSION_MINOR, DAT_FALSE), DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED,
               "names are case-sensitive");
    scene_code(openv("a", OTHER_MAJOR, 0, DAT_FALSE), DAT_PROVIDER_NOT_FOUND, DAT_MAJOR_NOT_FOUND,
               "another major version: DAT_MAJOR_NOT_FOUND");
    scene_code(openv("other", DAT_VERSION_MAJOR, DAT_VERSION_MINOR, DAT_FALSE), DAT_PROVIDER_NOT_FOUND,
               DAT_MAJOR_NOT_FOUND,
               "an entry of another major version: DAT_MAJOR_NOT_FOUND");
    scene_code(openv("a", DAT_VERSION_MAJOR, DAT_VERSION_MINOR + 3, DAT_FALSE), DAT_PROVIDER_NOT_FOUND,
               DAT_MINOR_NOT_FOUND,
               "a higher minor version: DAT_MINOR_NOT_FOUND");
    scene_code(openv("unsafe", DAT_VERSION_MAJOR, DAT_VERSION_MINOR, DAT_TRUE), DAT_PROVIDER_NOT_FOUND,
               DAT_THREAD_SAFETY_NOT_FOUND,
               "a nonthreadsafe entry for a threadsafe program: DAT_THREAD_SAFETY_NOT_FOUND");
    scene_type(openv("safe", DAT_VERSION_MAJOR, DAT_VERSION_MINOR, DAT_FALSE), DAT_SUCCESS,
               "a threadsafe entry for a nonthreadsafe program: success");
}

static const struct scene scenes[] = {
    { "sample", sample },
    { "good lines", good_lines },
    { "bad lines", bad_lines },
    { "duplicates", duplicates },
    { "long names", long_names },
    { "matching", matching },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    static char names[4096];
    const char *text;

    scene_enter(argc, argv, scenes);
    scene_play("sample",
               &(struct setting){
                   .conf = "# whole-line comment\n"
                           "ibd0  " CONF_API "  nonthreadsafe  default  %S/libstub.so  ACME.1.0  "
                           "\"inst \\\"a\\\" \\\\ b\"  \"\"   # trailing\n"
                           "ibd0  " CONF_API "  threadsafe     default  libprov.so.1  ACME.1.0  \" \"  \"\"\n"
                           "ibd1  " CONF_API "  nonthreadsafe  nondefault  libprov.so.1  ACME.1.0  \"\"  \"\"\n"
                           "ibd2  u1.x  nonthreadsafe  default  libprov.so.1  ACME.1.0  \"\"  \"\"\n"
                           "ibd0  " CONF_API "  nonthreadsafe  default  libother.so.1 ACME.1.0  \"\"  \"\"\n"
                           "ibd3  k1.2  nonthreadsafe  default  libprov.so.1  ACME.1.0  \"\"  \"\"\n" });
    text = scene_play("good lines", &(struct setting){ .conf = good_conf,
                                                       .env = { "RUST_LOG=warn" } });
    ok(text[0] == '\0', "good lines: no warning");
    text = scene_play("bad lines", &(struct setting){ .conf = bad_conf });
    ok(text[0] == '\0', "bad lines: nothing is written when nobody asks");
    text = scene_play("bad lines", &(struct setting){ .conf = bad_conf,
                                                      .env = { "RUST_LOG=warn" } });
    is_int(lines_in(text), 21, "bad lines: each is reported once, other versions are not");
    ok(strstr(text, "dat.conf:11:") != NULL && strstr(text, "dat.conf:12:") != NULL,
       "bad lines: with file and line");
    scene_play("duplicates",
               &(struct setting){ .conf = "a " CONF_API " nonthreadsafe default one L.1.0 \"\" \"\"\n"
                                          "a " CONF_API " threadsafe default one L.1.0 \"\" \"\"\n"
                                          "a " CONF_API " nonthreadsafe default two L.1.0 \"\" \"\"\n"
                                          "a u" API_NEXT " nonthreadsafe default one L.1.0 \"\" \"\"\n"
                                          "b " CONF_API " nonthreadsafe nondefault one L.1.0 \"\" \"\"\n"
                                          "b k1.2 nonthreadsafe default one L.1.0 \"\" \"\"\n"
                                          "b " CONF_API " nonthreadsafe default two L.1.0 \"\" \"\"\n" });
    memset(names, 'x', 256);
    strcpy(names + 256, " " CONF_API " nonthreadsafe default %S/libstub.so L.1.0 \"\" \"\"\n");
    memset(names + strlen(names), 'x', 255);
    strcat(names, " " CONF_API " nonthreadsafe default %S/libstub.so L.1.0 \"\" \"\"\n");
    scene_play("long names", &(struct setting){ .conf = names });
    scene_play("matching",
               &(struct setting){
                   .conf = "a u" API_LATER " threadsafe default %S/libstub.so L.1.0 later-safe \"\"\n"
                           "a u" API_LATER " nonthreadsafe default %S/libstub.so L.1.0 later \"\"\n"
                           "a " CONF_API " nonthreadsafe default %S/libstub.so L.1.0 now \"\"\n"
                           "other u" OTHER_VERSION " nonthreadsafe default %S/libstub.so L.1.0 \"\" \"\"\n"
                           "unsafe " CONF_API " nonthreadsafe default %S/libstub.so L.1.0 \"\" \"\"\n"
                           "safe " CONF_API " threadsafe default %S/libstub.so L.1.0 \"\" \"\"\n" });
    return done_testing();
}
