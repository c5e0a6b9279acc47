/* Counts what a process does to the files below one folder, records it, and fails or kills at the n-th time.
 *
 * Loaded with LD_PRELOAD, so that SQLite, FAISS and tokenizers are seen as well as Python. Harmless until armed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COUNT, ERROR, FULL, KILL };

static char root[PATH_MAX];
static size_t root_length;
static long at, counted;
static int mode, journal = -1;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void disk_arm(const char *folder, long n, int how, int record) {
    counted = 0, at = n, mode = how, journal = record;
    root_length = strlen(strcpy(root, folder));
}

long disk_count(void) { return counted; }

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static int is_inside(const char *path) {
    return root_length && !strncmp(path, root, root_length) && (path[root_length] == '/' || !path[root_length]);
}

static int name_of(int folder, const char *path, char *full) { /* absolute name of a path below an open folder */
    char base[PATH_MAX];
    if (!root_length || !path) return 0;
    if (path[0] == '/') return snprintf(full, PATH_MAX, "%s", path), is_inside(full);
    if (folder == AT_FDCWD) {
        if (!getcwd(base, sizeof base)) return 0;
    } else {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t length = readlink(link, base, sizeof base - 1);
        if (length < 0) return 0;
        base[length] = 0;
    }
    snprintf(full, PATH_MAX, path[0] ? "%.2000s/%.2000s" : "%.2000s%.2000s", base, path);
    return is_inside(full);
}

static int file_of(int descriptor, char *full) { return root_length && name_of(descriptor, "", full); }

/* Tell whether the operation that comes now must fail; errno says how. Does not return where it is the last thing. */
static int fails(int takes_room) {
    counted++;
    if (mode == KILL && counted == at) kill(getpid(), SIGKILL), pause();
    if (mode == ERROR && counted == at) return errno = EIO, 1;
    if (mode == FULL && counted >= at && takes_room) return errno = ENOSPC, 1;
    return 0;
}

static void record(const char *what, const char *path, const char *other, long offset, const void *data, long length) {
    char line[3 * PATH_MAX];
    if (journal < 0) return;
    int n = snprintf(line, sizeof line, "%ld\t%s\t%s\t%s\t%ld\t%ld\n", counted, what, path, other, offset, length);
    syscall(SYS_write, journal, line, n);
    for (long done = 0; data && done < length;) {
        long wrote = syscall(SYS_write, journal, (const char *)data + done, length - done);
        if (wrote <= 0) abort();
        done += wrote;
    }
}

#define CALL(type, path_found, takes_room, failed, action, remembered) \
    do { \
        if (!(path_found)) return action; \
        pthread_mutex_lock(&lock); \
        type outcome = failed; \
        if (!fails(takes_room)) { \
            outcome = action; \
            if (outcome != failed) remembered; \
        } \
        int cause = errno; \
        pthread_mutex_unlock(&lock); \
        errno = cause; \
        return outcome; \
    } while (0)

static int open_at(int folder, const char *path, int flags, mode_t how) {
    char full[PATH_MAX];
    struct stat facts;
    int (*action)(int, const char *, int, ...) = real("openat");
    int inside = (flags & (O_CREAT | O_TRUNC)) && (flags & O_TMPFILE) != O_TMPFILE && name_of(folder, path, full);
    int there = inside && !stat(full, &facts);
    int matters = inside && (there ? (flags & O_TRUNC) && facts.st_size : (flags & O_CREAT));
    CALL(int, matters, 1, -1, action(folder, path, flags, how),
         record(there ? "truncate" : "create", full, "", 0, NULL, 0));
}

#define HOW mode_t how = 0; if (flags & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); how = va_arg(rest, mode_t); va_end(rest); }
int open(const char *path, int flags, ...) { HOW return open_at(AT_FDCWD, path, flags, how); }
int open64(const char *path, int flags, ...) { HOW return open_at(AT_FDCWD, path, flags, how); }
int openat(int folder, const char *path, int flags, ...) { HOW return open_at(folder, path, flags, how); }
int openat64(int folder, const char *path, int flags, ...) { HOW return open_at(folder, path, flags, how); }

static ssize_t write_at(int descriptor, const void *data, size_t length, off_t offset) {
    char full[PATH_MAX];
    ssize_t (*there)(int, const void *, size_t, off_t) = real("pwrite");
    ssize_t (*here)(int, const void *, size_t) = real("write");
    int known = length && file_of(descriptor, full);
    off_t start = offset;
    if (known && offset < 0) {
        int appends = fcntl(descriptor, F_GETFL) & O_APPEND;
        struct stat facts;
        start = appends && !fstat(descriptor, &facts) ? facts.st_size : lseek(descriptor, 0, SEEK_CUR);
    }
    if (known && mode == KILL && counted + 1 == at) { /* a torn write */
        if (offset < 0) here(descriptor, data, length / 2); else there(descriptor, data, length / 2, offset);
    }
    CALL(ssize_t, known, 1, -1, offset < 0 ? here(descriptor, data, length) : there(descriptor, data, length, offset),
         record("write", full, "", start, data, outcome));
}

ssize_t write(int descriptor, const void *data, size_t length) { return write_at(descriptor, data, length, -1); }
ssize_t pwrite(int descriptor, const void *data, size_t length, off_t offset) { return write_at(descriptor, data, length, offset); }
ssize_t pwrite64(int descriptor, const void *data, size_t length, off_t offset) { return write_at(descriptor, data, length, offset); }

ssize_t writev(int descriptor, const struct iovec *parts, int n) {
    char full[PATH_MAX];
    ssize_t done = 0;
    if (!file_of(descriptor, full)) return REAL(writev)(descriptor, parts, n);
    for (int i = 0; i < n; i++) {
        ssize_t wrote = parts[i].iov_len ? write_at(descriptor, parts[i].iov_base, parts[i].iov_len, -1) : 0;
        if (wrote < 0) return done ? done : -1;
        done += wrote;
    }
    return done;
}

/* glibc's own streams write by an inner name; many small pieces of one stream count as one operation. */
size_t fwrite(const void *data, size_t size, size_t n, FILE *stream) {
    static FILE *last;
    static long last_count;
    char full[PATH_MAX];
    size_t (*action)(const void *, size_t, size_t, FILE *) = real("fwrite");
    if (!root_length || !size || !n || !file_of(fileno(stream), full)) return action(data, size, n, stream);
    pthread_mutex_lock(&lock);
    long offset = ftell(stream);
    size_t outcome = 0;
    int goes_on = stream == last && counted == last_count && !(mode == FULL && counted >= at);
    if (goes_on || !fails(1)) {
        outcome = action(data, size, n, stream);
        fflush(stream);
        record("write", full, "", offset, data, outcome * size);
        last = stream, last_count = counted;
    }
    int cause = errno;
    pthread_mutex_unlock(&lock);
    errno = cause;
    return outcome;
}

static FILE *open_stream(const char *name, const char *path, const char *how) {
    char full[PATH_MAX];
    FILE *(*action)(const char *, const char *) = real(name);
    int matters = (how[0] == 'w' || how[0] == 'a') && name_of(AT_FDCWD, path, full);
    CALL(FILE *, matters, 1, NULL, action(path, how), record("create", full, "", 0, NULL, 0));
}

FILE *fopen(const char *path, const char *how) { return open_stream("fopen", path, how); }
FILE *fopen64(const char *path, const char *how) { return open_stream("fopen64", path, how); }

#define ON_FILE(name, takes_room, parameters, arguments, remembered) \
    int name parameters { \
        char full[PATH_MAX]; \
        CALL(int, file_of(descriptor, full), takes_room, -1, REAL(name) arguments, remembered); \
    }
ON_FILE(fsync, 0, (int descriptor), (descriptor), record("sync", full, "", 0, NULL, 0))
ON_FILE(fdatasync, 0, (int descriptor), (descriptor), record("sync", full, "", 0, NULL, 0))
ON_FILE(ftruncate, 1, (int descriptor, off_t length), (descriptor, length), record("resize", full, "", length, NULL, 0))
ON_FILE(ftruncate64, 1, (int descriptor, off_t length), (descriptor, length), record("resize", full, "", length, NULL, 0))

#define ON_PATH(name, what, takes_room, parameters, folder, arguments) \
    int name parameters { \
        char full[PATH_MAX]; \
        CALL(int, name_of(folder, path, full), takes_room, -1, REAL(name) arguments, record(what, full, "", 0, NULL, 0)); \
    }
ON_PATH(mkdir, "folder", 1, (const char *path, mode_t how), AT_FDCWD, (path, how))
ON_PATH(mkdirat, "folder", 1, (int folder, const char *path, mode_t how), folder, (folder, path, how))
ON_PATH(unlink, "remove", 0, (const char *path), AT_FDCWD, (path))
ON_PATH(rmdir, "remove", 0, (const char *path), AT_FDCWD, (path))
ON_PATH(unlinkat, "remove", 0, (int folder, const char *path, int flags), folder, (folder, path, flags))

static int rename_at(int from_folder, const char *from, int to_folder, const char *to) {
    char old[PATH_MAX], new[PATH_MAX];
    int (*action)(int, const char *, int, const char *) = real("renameat");
    int inside = name_of(from_folder, from, old) && name_of(to_folder, to, new);
    CALL(int, inside, 0, -1, action(from_folder, from, to_folder, to), record("rename", old, new, 0, NULL, 0));
}

int rename(const char *from, const char *to) { return rename_at(AT_FDCWD, from, AT_FDCWD, to); }
int renameat(int from_folder, const char *from, int to_folder, const char *to) { return rename_at(from_folder, from, to_folder, to); }

/* A second name of a file: of several that want it, one alone gets it. */
int link(const char *from, const char *to) {
    char old[PATH_MAX], new[PATH_MAX];
    int inside = name_of(AT_FDCWD, from, old) && name_of(AT_FDCWD, to, new);
    CALL(int, inside, 1, -1, REAL(link) (from, to), record("link", old, new, 0, NULL, 0));
}
