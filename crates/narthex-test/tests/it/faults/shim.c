/* Makes the n-th write, flush or rename under one folder fail. Loaded before libc by the test.
 *
 * It is told what to do by opening a path that cannot exist:
 *   /fault/dir/<absolute folder>            only files under it count
 *   /fault/arm/<op>/<n>/<errno>/<sticky>    op: 1 write, 2 flush, 3 rename, 0 any of them
 *   /fault/off                              nothing fails any more; the counts, and whether
 *                                           anything failed, are left in <folder>.count
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ANY, WRITE, FLUSH, RENAME, KINDS };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[4096];
static long counts[KINDS];
static int op = -1, error = 0, sticky = 0, tripped = 0;
static long at = 0;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int inside(const char *path) {
    size_t n = strlen(folder);
    return n > 0 && strncmp(path, folder, n) == 0;
}

static int fd_inside(int fd) {
    char link[64], path[4096];
    if (folder[0] == 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0) return 0;
    path[n] = 0;
    return inside(path);
}

/* The error this operation must fail with, or 0. */
static int due(int kind) {
    int fails = 0;
    pthread_mutex_lock(&lock);
    counts[kind]++;
    counts[ANY]++;
    if (op == kind || op == ANY) {
        if (tripped ? sticky : counts[op] == at) {
            tripped = 1;
            fails = error;
        }
    }
    pthread_mutex_unlock(&lock);
    return fails;
}

static int control(const char *path) {
    if (strncmp(path, "/fault/", 7) != 0) return 0;
    const char *rest = path + 7;
    pthread_mutex_lock(&lock);
    if (strncmp(rest, "dir/", 4) == 0) {
        snprintf(folder, sizeof folder, "/%s", rest + 4);
        memset(counts, 0, sizeof counts);
        op = -1;
    } else if (strncmp(rest, "arm/", 4) == 0) {
        memset(counts, 0, sizeof counts);
        tripped = 0;
        sscanf(rest + 4, "%d/%ld/%d/%d", &op, &at, &error, &sticky);
    } else if (strncmp(rest, "off", 3) == 0) {
        char name[4200], line[128];
        op = -1;
        snprintf(name, sizeof name, "%s.count", folder);
        int n = snprintf(line, sizeof line, "%ld %ld %ld %d\n", counts[WRITE], counts[FLUSH],
                         counts[RENAME], tripped);
        folder[0] = 0;
        int fd = REAL(open)(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
        if (fd >= 0) {
            if (REAL(write)(fd, line, n) != n) abort();
            close(fd);
        }
    }
    pthread_mutex_unlock(&lock);
    errno = ENOENT;
    return 1;
}

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list more; \
        va_start(more, flags); \
        mode = va_arg(more, mode_t); \
        va_end(more); \
    }

int open(const char *path, int flags, ...) {
    MODE(flags)
    if (control(path)) return -1;
    return REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE(flags)
    if (control(path)) return -1;
    return REAL(open64)(path, flags, mode);
}

#define FAILS(kind, result) \
    do { \
        int fails = due(kind); \
        if (fails) { \
            errno = fails; \
            return result; \
        } \
    } while (0)

ssize_t write(int fd, const void *bytes, size_t n) {
    if (fd_inside(fd)) FAILS(WRITE, -1);
    return REAL(write)(fd, bytes, n);
}
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t from) {
    if (fd_inside(fd)) FAILS(WRITE, -1);
    return REAL(pwrite)(fd, bytes, n, from);
}
ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t from) {
    if (fd_inside(fd)) FAILS(WRITE, -1);
    return REAL(pwrite64)(fd, bytes, n, from);
}
int ftruncate(int fd, off_t n) {
    if (fd_inside(fd)) FAILS(WRITE, -1);
    return REAL(ftruncate)(fd, n);
}
int ftruncate64(int fd, off64_t n) {
    if (fd_inside(fd)) FAILS(WRITE, -1);
    return REAL(ftruncate64)(fd, n);
}
int fsync(int fd) {
    if (fd_inside(fd)) FAILS(FLUSH, -1);
    return REAL(fsync)(fd);
}
int fdatasync(int fd) {
    if (fd_inside(fd)) FAILS(FLUSH, -1);
    return REAL(fdatasync)(fd);
}
int rename(const char *from, const char *to) {
    if (inside(from) || inside(to)) FAILS(RENAME, -1);
    return REAL(rename)(from, to);
}
