/* Native code inside a worker, as if the engine had been taken over: a program reaches it by
 * Math.cos(1000 + n), and is told what the system said to attempt n (0: it went through). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static long attempt(int n) {
  static char page[4096] __attribute__((aligned(4096)));
  char byte = 0;
  struct rlimit more = {RLIM_INFINITY, RLIM_INFINITY};
  struct iovec here = {&byte, 1}, there = {&byte, 1};
  char *const none[] = {0};
  switch (n) {
  case 0: return syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY);
  case 1: return syscall(SYS_open, "/etc/passwd", O_RDONLY);
  case 2: return syscall(SYS_openat, AT_FDCWD, "/tmp/escaped", O_CREAT | O_WRONLY, 0600);
  case 3: return syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
  case 4: return syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
  case 5: return syscall(SYS_connect, 0, 0, 0);
  case 6: return syscall(SYS_execve, "/bin/true", none, none);
  case 7: return syscall(SYS_execveat, AT_FDCWD, "/bin/true", none, none, 0);
  case 8: return syscall(SYS_fork);
  case 9: return syscall(SYS_vfork);
  case 10: return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  case 11: return syscall(SYS_clone3, 0, 0);
  case 12: return syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0);
  case 13: return syscall(SYS_kill, getppid(), SIGTERM);
  case 14: return syscall(SYS_tgkill, 1, 1, SIGTERM);
  case 15: return (long)mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == -1 ? -1 : 0;
  case 16: return mprotect(page, 4096, PROT_READ | PROT_EXEC);
  case 17: return (long)mmap(0, 4096, PROT_READ, MAP_PRIVATE, 0, 0) == -1 ? -1 : 0;
  case 18: return syscall(SYS_memfd_create, "x", 0);
  case 19: return syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
  case 20: return setrlimit(RLIMIT_AS, &more);
  case 21: return syscall(SYS_process_vm_readv, getppid(), &here, 1, &there, 1, 0);
  case 22: return syscall(SYS_io_uring_setup, 1, 0);
  case 23: return syscall(SYS_bpf, 0, 0, 0);
  case 24: return syscall(SYS_unshare, CLONE_NEWUSER);
  case 25: return syscall(SYS_unlink, "/tmp/escaped");
  case 26: return syscall(SYS_getdents64, 0, page, sizeof page);
  case 27: return syscall(SYS_read, 2, &byte, 1);
  case 28: return syscall(SYS_write, 2, "x", 1);
  case 29: return syscall(SYS_dup, 0);
  case 30: return syscall(SYS_ioctl, 0, 0x5412, "x");
  case 31: return syscall(SYS_userfaultfd, 0);
  case 32: return syscall(SYS_keyctl, 0, 0, 0, 0, 0);
  case 33: return syscall(SYS_rt_sigaction, SIGTERM, 0, 0, 8);
  case 34: return syscall(SYS_setuid, 0);
  case 35: return syscall(SYS_mount, 0, 0, 0, 0, 0);
  case 36: return syscall(SYS_stat, "/etc/passwd", page);
  case 37: return syscall(SYS_pidfd_open, 1, 0);
  default: return 0;
  }
}

#ifdef MAIN
#include <stdio.h>
#include <stdlib.h>

/* The same outside of any wall: what the system says to one attempt. */
int main(int count, char **words) {
  errno = 0;
  long got = attempt(count > 1 ? atoi(words[1]) : -1);
  printf("%d\n", got < 0 ? errno : 0);
  return 0;
}
#else

double cos(double x) {
  if (x < 1000 || x >= 1100) return 0.5;
  errno = 0;
  long got = attempt((int)x - 1000);
  return got < 0 ? errno : 0;
}
#endif
