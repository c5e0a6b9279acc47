/* Lets a process and its children speak to this machine alone, and writes down whatever else they try.
 *
 * Loaded with LD_PRELOAD, so that what is linked into a package's own libraries is seen as well as Python. A line each
 * goes to the file that ICONS_GUARD names: "look up HOST", "connect ADDRESS", "listen ADDRESS", "create PATH".
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void note(const char *what, const char *value) {
    const char *log = getenv("ICONS_GUARD");
    char line[PATH_MAX + 64];
    if (!log) return;
    int length = snprintf(line, sizeof line, "%s %.4000s\n", what, value);
    int file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0 || write(file, line, length) != length) abort();
    close(file);
}

/* Addresses and names */

static int is_home(const struct sockaddr *to, char *spelled) { /* this machine's own, or none of a network */
    char host[INET6_ADDRSTRLEN] = "";
    if (!to || (to->sa_family != AF_INET && to->sa_family != AF_INET6)) return 1;
    if (to->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const void *)to;
        inet_ntop(AF_INET, &four->sin_addr, host, sizeof host);
        snprintf(spelled, 80, "%s:%d", host, ntohs(four->sin_port));
        return (ntohl(four->sin_addr.s_addr) >> 24) == 127;
    }
    const struct sockaddr_in6 *six = (const void *)to;
    inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof host);
    snprintf(spelled, 80, "[%s]:%d", host, ntohs(six->sin6_port));
    return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr) ||
           (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr) && six->sin6_addr.s6_addr[12] == 127);
}

static int refuse(const struct sockaddr *to) {
    char spelled[80];
    if (is_home(to, spelled)) return 0;
    note("connect", spelled);
    errno = ENETUNREACH;
    return 1;
}

int connect(int socket, const struct sockaddr *to, socklen_t length) {
    return refuse(to) ? -1 : REAL(connect)(socket, to, length);
}

ssize_t sendto(int socket, const void *data, size_t n, int flags, const struct sockaddr *to, socklen_t length) {
    return refuse(to) ? -1 : REAL(sendto)(socket, data, n, flags, to, length);
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
    return refuse(message->msg_name) ? -1 : REAL(sendmsg)(socket, message, flags);
}

int bind(int socket, const struct sockaddr *at, socklen_t length) {
    char spelled[80];
    if (!is_home(at, spelled)) note("listen", spelled);
    return REAL(bind)(socket, at, length);
}

static int is_known(const char *host) { /* what can be told without asking anybody */
    unsigned char address[16];
    return !host || !*host || !strcmp(host, "localhost") || inet_pton(AF_INET, host, address) == 1 ||
           inet_pton(AF_INET6, host, address) == 1;
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    if (is_known(host)) return REAL(getaddrinfo)(host, service, hints, found);
    note("look up", host);
    return EAI_FAIL;
}

struct hostent *gethostbyname(const char *host) {
    if (is_known(host)) return REAL(gethostbyname)(host);
    note("look up", host);
    return NULL;
}

int gethostbyname_r(const char *host, struct hostent *in, char *room, size_t n, struct hostent **found, int *why) {
    if (is_known(host)) return REAL(gethostbyname_r)(host, in, room, n, found, why);
    note("look up", host);
    return *found = NULL, *why = NO_RECOVERY, 1;
}

struct hostent *gethostbyaddr(const void *address, socklen_t length, int type) {
    (void)address, (void)length, (void)type;
    note("look up", "the name of an address");
    return NULL;
}

int gethostbyaddr_r(const void *address, socklen_t length, int type, struct hostent *in, char *room, size_t n,
                    struct hostent **found, int *why) {
    (void)address, (void)length, (void)type, (void)in, (void)room, (void)n;
    note("look up", "the name of an address");
    return *found = NULL, *why = NO_RECOVERY, 1;
}

int getnameinfo(const struct sockaddr *of, socklen_t length, char *host, socklen_t n, char *service, socklen_t m,
                int flags) {
    if (!(flags & NI_NUMERICHOST) && host) note("look up", "the name of an address");
    return REAL(getnameinfo)(of, length, host, n, service, m, flags | NI_NUMERICHOST);
}

/* Files that come into being */

static void note_new(int folder, const char *path) {
    char base[PATH_MAX], link[64], full[PATH_MAX];
    if (path[0] == '/') {
        note("create", path);
        return;
    }
    snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, base, sizeof base - 1);
    base[length < 0 ? 0 : length] = 0;
    snprintf(full, sizeof full, "%.2000s/%.2000s", base, path);
    note("create", full);
}

#define IS_NEW(flags) ((flags) & O_CREAT || ((flags) & O_TMPFILE) == O_TMPFILE)
#define MODE(flags)                                                                                                    \
    mode_t mode = 0;                                                                                                   \
    if (IS_NEW(flags)) {                                                                                               \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode = va_arg(rest, mode_t);                                                                                   \
        va_end(rest);                                                                                                  \
    }

int open(const char *path, int flags, ...) {
    MODE(flags)
    if (IS_NEW(flags)) note_new(AT_FDCWD, path);
    return REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE(flags)
    if (IS_NEW(flags)) note_new(AT_FDCWD, path);
    return REAL(open64)(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    MODE(flags)
    if (IS_NEW(flags)) note_new(folder, path);
    return REAL(openat)(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
    MODE(flags)
    if (IS_NEW(flags)) note_new(folder, path);
    return REAL(openat64)(folder, path, flags, mode);
}

FILE *fopen(const char *path, const char *how) {
    if (strpbrk(how, "wa+")) note_new(AT_FDCWD, path);
    return REAL(fopen)(path, how);
}

FILE *fopen64(const char *path, const char *how) {
    if (strpbrk(how, "wa+")) note_new(AT_FDCWD, path);
    return REAL(fopen64)(path, how);
}

int mkdir(const char *path, mode_t mode) {
    if (access(path, F_OK)) note_new(AT_FDCWD, path);
    return REAL(mkdir)(path, mode);
}

int mkdirat(int folder, const char *path, mode_t mode) {
    if (faccessat(folder, path, F_OK, 0)) note_new(folder, path);
    return REAL(mkdirat)(folder, path, mode);
}

int rename(const char *from, const char *to) {
    note_new(AT_FDCWD, to);
    return REAL(rename)(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    note_new(to_folder, to);
    return REAL(renameat)(from_folder, from, to_folder, to);
}

int symlink(const char *target, const char *path) {
    note_new(AT_FDCWD, path);
    return REAL(symlink)(target, path);
}
