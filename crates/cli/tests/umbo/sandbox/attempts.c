// Tries to get out of a sandbox, in every way its author knows. Each attempt runs in a process of its own
// and prints one line: its name, then "refused" with the number of the error, or "ESCAPED".
//
//   attempts OUTSIDE INSIDE SECRET HOST_PID TCP_PORT UDP_PORT SHM_ID
//
// OUTSIDE has `file`, `dir`, `sock` (a listening stream socket) and `gram` (a datagram socket); INSIDE may be
// written; SECRET is hidden; HOST_PID is a process of the same user, outside; the ports are of the machine's
// loopback interface, SHM_ID is a segment of shared memory. Not to be run as root outside of a sandbox.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static char *outside, *inside, *secret;
static pid_t host;
static int tcp_port, udp_port, shm_id;

static char *in(const char *directory, const char *name) {
    char *path;
    if (asprintf(&path, "%s/%s", directory, name) < 0) exit(99);
    return path;
}
static char *out(const char *name) { return in(outside, name); }
static char *own(const char *name) { return in(inside, name); }

// An attempt gives 0 if it got out; otherwise -1 with errno.
static int no(int error) { errno = error; return -1; }
static int done(long result) { return result < 0 ? -1 : 0; }
static int write_to(int fd) { return fd < 0 ? -1 : done(write(fd, "escaped", 7)); }
static int reads(int fd) { char b[64]; return fd < 0 ? -1 : read(fd, b, sizeof b) > 0 ? 0 : no(ENODATA); }
static int secret_in(const char *path) {
    char b[64] = {0}; int fd = open(path, O_RDONLY);
    if (fd < 0) return -1;
    return read(fd, b, 63) > 0 && strstr(b, "secret") ? 0 : no(ENODATA);
}

static int write_file(void) { return write_to(open(out("file"), O_WRONLY)); }
static int append_file(void) { return write_to(open(out("file"), O_WRONLY | O_APPEND)); }
static int truncate_open(void) { return done(open(out("file"), O_RDONLY | O_TRUNC)); }
static int create_file(void) { return write_to(open(out("new"), O_WRONLY | O_CREAT, 0644)); }
static int create_nameless(void) { return write_to(open(outside, O_TMPFILE | O_WRONLY, 0600)); }
static int open_how(void) {
    struct open_how how = {.flags = O_WRONLY};
    return write_to(syscall(SYS_openat2, AT_FDCWD, out("file"), &how, sizeof how));
}
static int by_directory(void) { int d = open(outside, O_RDONLY); return write_to(openat(d, "file", O_WRONLY)); }
static int by_dots(void) { char p[4096]; snprintf(p, 4096, "%s/../../../../../../../..%s", inside, out("file")); return write_to(open(p, O_WRONLY)); }
static int by_symlink(void) { unlink(own("link")); if (symlink(out("file"), own("link"))) return -1; return write_to(open(own("link"), O_WRONLY)); }
static int by_dangling(void) { unlink(own("dangling")); if (symlink(out("made"), own("dangling"))) return -1; return write_to(open(own("dangling"), O_WRONLY | O_CREAT, 0600)); }
static int by_linked_directory(void) { unlink(own("away")); if (symlink(outside, own("away"))) return -1; return write_to(open(own("away/new2"), O_WRONLY | O_CREAT, 0600)); }
static int hard_link_in(void) { unlink(own("hard")); if (link(out("file"), own("hard"))) return -1; return write_to(open(own("hard"), O_WRONLY)); }
static int hard_link_out(void) { int f = open(own("mine"), O_CREAT | O_WRONLY, 0600); close(f); return done(link(own("mine"), out("hard2"))); }
static int rename_in(void) { return done(rename(out("file"), own("taken"))); }
static int rename_over(void) { int f = open(own("mine2"), O_CREAT | O_WRONLY, 0600); close(f); return done(rename(own("mine2"), out("file"))); }
static int exchange(void) { int f = open(own("mine3"), O_CREAT | O_WRONLY, 0600); close(f); return done(syscall(SYS_renameat2, AT_FDCWD, own("mine3"), AT_FDCWD, out("file"), 2)); }
static int delete_file(void) { return done(unlink(out("file"))); }
static int make_directory(void) { return done(mkdir(out("made2"), 0755)); }
static int remove_directory(void) { return done(rmdir(out("dir"))); }
static int make_link(void) { return done(symlink("x", out("link2"))); }
static int make_fifo(void) { return done(mkfifo(out("fifo"), 0600)); }
static int truncate_path(void) { return done(truncate(out("file"), 0)); }
static int change_mode(void) { return done(chmod(out("file"), 0777)); }
static int change_mode_at(void) { return done(syscall(SYS_fchmodat, AT_FDCWD, out("file"), 0777)); }
static int change_mode_at2(void) { return done(syscall(452, AT_FDCWD, out("file"), 0777, 0)); }
static int change_mode_open(void) { int f = open(out("file"), O_RDONLY); return done(fchmod(f, 0777)); }
static int change_mode_path(void) { int f = open(out("file"), O_PATH); char p[64]; snprintf(p, 64, "/proc/self/fd/%d", f); return done(chmod(p, 0777)); }
static int change_owner(void) { return done(chown(out("file"), getuid(), getgid())); }
static int change_owner_open(void) { int f = open(out("file"), O_RDONLY); return done(fchown(f, getuid(), getgid())); }
static int change_times(void) { struct timespec t[2] = {{1, 0}, {1, 0}}; return done(utimensat(AT_FDCWD, out("file"), t, 0)); }
static int change_times_open(void) { struct timespec t[2] = {{1, 0}, {1, 0}}; int f = open(out("file"), O_RDONLY); return done(futimens(f, t)); }
static int set_attribute(void) { return done(setxattr(out("file"), "user.escaped", "1", 1, 0)); }
static int set_attribute_open(void) { int f = open(out("file"), O_RDONLY); return done(fsetxattr(f, "user.escaped", "1", 1, 0)); }
static int set_flags(void) { int f = open(out("file"), O_RDONLY), flags = 0; ioctl(f, 0x80086601, &flags); flags |= 0x40; return done(ioctl(f, 0x40086602, &flags)); }
static int reopen(void) { int f = open(out("file"), O_RDONLY); char p[64]; snprintf(p, 64, "/proc/self/fd/%d", f); return write_to(open(p, O_WRONLY)); }
static int bind_outside(void) { int s = socket(AF_UNIX, SOCK_STREAM, 0); struct sockaddr_un a = {.sun_family = AF_UNIX}; strncpy(a.sun_path, out("bound"), 107); return done(bind(s, (void *)&a, sizeof a)); }
static int read_secret(void) { return secret_in(secret); }
static int read_secret_linked(void) { unlink(own("look")); if (symlink(secret, own("look"))) return -1; return secret_in(own("look")); }
static int read_secret_hard(void) { unlink(own("look2")); if (link(secret, own("look2"))) return -1; return secret_in(own("look2")); }
static int through_process(const char *what, const char *path, int flags) { char p[4096]; snprintf(p, 4096, "/proc/%d/%s%s", host, what, path); int f = open(p, flags); return flags == O_RDONLY ? reads(f) : write_to(f); }
static int root_of_host(void) { return through_process("root", out("file"), O_WRONLY); }
static int secret_of_host(void) { return through_process("root", secret, O_RDONLY); }
static int cwd_of_host(void) { return through_process("cwd", "/file", O_WRONLY); }
static int environment_of_host(void) { return through_process("environ", "", O_RDONLY); }
static int memory_of_host(void) { char p[64]; snprintf(p, 64, "/proc/%d/mem", host); return done(open(p, O_RDWR)); }
static int root_of_first(void) { char p[4096]; snprintf(p, 4096, "/proc/1/root%s", out("file")); return write_to(open(p, O_WRONLY)); }
static int environment_of_first(void) { return reads(open("/proc/1/environ", O_RDONLY)); }
static int memory_of_first(void) { return done(open("/proc/1/mem", O_RDWR)); }
static int root_of_parent(void) { char p[4096]; snprintf(p, 4096, "/proc/%d/root%s", getppid(), out("file")); return write_to(open(p, O_WRONLY)); }
static int trace_host(void) { return done(ptrace(PTRACE_SEIZE, host, 0, 0)); }
static int trace_first(void) { return done(ptrace(PTRACE_SEIZE, 1, 0, 0)); }
static int read_host(void) { char b[8]; struct iovec l = {b, 8}, r = {(void *)0x400000, 8}; long n = process_vm_readv(host, &l, 1, &r, 1, 0); return n >= 0 || errno == EFAULT ? 0 : -1; }
static int descriptor_of_host(void) { int p = syscall(SYS_pidfd_open, host, 0); return p < 0 ? -1 : done(syscall(SYS_pidfd_getfd, p, 0, 0)); }
static int kill_host(void) { return done(kill(host, SIGUSR1)); }
static int kill_first(void) { return kill(1, SIGKILL) == 0 && getpid() != 1 ? (usleep(200000), no(EPERM)) : -1; }
static int kill_all(void) { pid_t p = getppid(); (void)p; return done(kill(host, 0)); }
static int limit_host(void) { struct rlimit l = {10, 10}; return done(prlimit(host, RLIMIT_NOFILE, &l, 0)); }
static int nice_host(void) { return done(setpriority(PRIO_PROCESS, host, 19)); }
static int uring(void) { char p[256] = {0}; return done(syscall(SYS_io_uring_setup, 4, p)); }
static int keys(void) { return done(syscall(SYS_keyctl, 0, -4, 0)); }
static int add_key(void) { return done(syscall(SYS_add_key, "user", "x", "y", 1, -4)); }
static int bpf(void) { char a[128] = {0}; ((int *)a)[0] = 1; ((int *)a)[1] = 4; ((int *)a)[2] = 4; ((int *)a)[3] = 1; return done(syscall(SYS_bpf, 0, a, 128)); }
static int perf(void) { char a[128] = {0}; ((int *)a)[0] = 1; ((int *)a)[1] = 128; return done(syscall(SYS_perf_event_open, a, host, -1, -1, 0)); }
static int fault(void) { return done(syscall(SYS_userfaultfd, 0)); }
static int new_users(void) { return done(unshare(CLONE_NEWUSER)); }
static int new_mounts(void) { return done(unshare(CLONE_NEWNS)); }
static int clone_users(void) { long p = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0); if (p == 0) _exit(0); return done(p); }
static int clone3_users(void) { unsigned long a[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD}; long p = syscall(SYS_clone3, a, 64); if (p == 0) _exit(0); return done(p); }
// On a directory that is no mount: whoever may do it at all is told that, and nothing is changed.
static int allowed(long result) { return result >= 0 || errno == EINVAL ? 0 : -1; }
static int mount_over(void) { if (mount("tmpfs", inside, "tmpfs", 0, "")) return -1; umount2(inside, MNT_DETACH); return 0; }
static int remount(void) { mkdir(own("nomount"), 0700); return allowed(mount("none", own("nomount"), "", MS_REMOUNT | MS_BIND, "")); }
static int unmount(void) { mkdir(own("nomount"), 0700); return allowed(umount2(own("nomount"), MNT_DETACH)); }
static int mount_new(void) { return done(syscall(SYS_fsopen, "tmpfs", 0)); }
static int tree_open(void) { return done(syscall(SYS_open_tree, AT_FDCWD, "/", 1)); }
static int set_mount(void) { unsigned long a[4] = {0, 1, 0, 0}; mkdir(own("nomount"), 0700); return allowed(syscall(SYS_mount_setattr, AT_FDCWD, own("nomount"), 0, a, 32)); }
static int change_root(void) { return done(chroot(inside)); }
static int by_handle(void) { char h[64] = {0}; ((int *)h)[0] = 8; ((int *)h)[1] = 1; int m = open(outside, O_RDONLY); long r = syscall(SYS_open_by_handle_at, m, h, O_RDONLY); return r >= 0 || errno == ESTALE ? 0 : -1; }
static int join_host(void) { char p[64]; snprintf(p, 64, "/proc/%d/ns/mnt", host); int f = open(p, O_RDONLY); return f < 0 ? -1 : done(setns(f, 0)); }
static int join_pidfd(void) { int p = syscall(SYS_pidfd_open, host, 0); return p < 0 ? -1 : done(setns(p, CLONE_NEWNS)); }
static int make_device(void) { unlink(own("disk")); if (mknod(own("disk"), S_IFBLK | 0600, makedev(254, 0))) return -1; return done(open(own("disk"), O_RDONLY)); }
static int memory_device(void) { return done(open("/dev/mem", O_RDONLY)); }
static int kernel_messages(void) { return reads(open("/dev/kmsg", O_RDONLY | O_NONBLOCK)); }
// A terminal of somebody else: the first one that the machine has.
static int terminal(void) { for (int i = 0; i < 64; i++) { char p[64]; snprintf(p, 64, "/dev/pts/%d", i); if (access(p, F_OK) == 0) return done(open(p, O_RDONLY | O_NONBLOCK | O_NOCTTY)); } return no(ENOENT); }
static int disk(void) { int f = open("/dev/vda", O_RDONLY); return f < 0 ? done(open("/dev/sda", O_RDONLY)) : 0; }
static int core_pattern(void) { return done(open("/proc/sys/kernel/core_pattern", O_WRONLY)); }
static int sysrq(void) { return done(open("/proc/sysrq-trigger", O_WRONLY)); }
static int group(void) { return done(open("/sys/fs/cgroup/unified/cgroup.procs", O_WRONLY)) && done(open("/sys/fs/cgroup/cgroup.procs", O_WRONLY)); }
static int release_agent(void) { return done(open("/sys/fs/cgroup/memory/release_agent", O_WRONLY)); }
static int firmware(void) { return done(open("/sys/kernel/uevent_helper", O_WRONLY)); }
static int module(void) { return done(syscall(SYS_finit_module, open("/bin/true", O_RDONLY), "", 0)) && errno == ENOEXEC ? 0 : -1; }
#ifdef __x86_64__
static int old_call(void) { long r; __asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory"); return r > 0 ? 0 : no(-r); }
static int x32_call(void) { return done(syscall(0x40000000 | SYS_getpid)); }
#endif
static struct sockaddr_un name_of(const char *path) { struct sockaddr_un a = {.sun_family = AF_UNIX}; strncpy(a.sun_path, path, 107); return a; }
static int unix_stream(void) { int s = socket(AF_UNIX, SOCK_STREAM, 0); struct sockaddr_un a = name_of(out("sock")); return done(connect(s, (void *)&a, sizeof a)); }
static int unix_linked(void) { unlink(own("tosock")); if (symlink(out("sock"), own("tosock"))) return -1; int s = socket(AF_UNIX, SOCK_STREAM, 0); struct sockaddr_un a = name_of(own("tosock")); return done(connect(s, (void *)&a, sizeof a)); }
static int unix_relative(void) { if (chdir(outside)) return -1; int s = socket(AF_UNIX, SOCK_STREAM, 0); struct sockaddr_un a = name_of("sock"); return done(connect(s, (void *)&a, sizeof a)); }
static int unix_datagram(void) { int s = socket(AF_UNIX, SOCK_DGRAM, 0); struct sockaddr_un a = name_of(out("gram")); return s < 0 ? -1 : done(sendto(s, "x", 1, 0, (void *)&a, sizeof a)); }
static int unix_pair(void) { int s[2]; if (socketpair(AF_UNIX, SOCK_DGRAM, 0, s)) return -1; struct sockaddr_un a = name_of(out("gram")); return done(sendto(s[0], "x", 1, 0, (void *)&a, sizeof a)); }
static int unix_message(void) { int s[2]; if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s)) return -1; struct sockaddr_un a = name_of(out("gram")); struct iovec v = {"x", 1}; struct msghdr m = {.msg_name = &a, .msg_namelen = sizeof a, .msg_iov = &v, .msg_iovlen = 1}; return sendmsg(s[0], &m, 0) < 0 ? -1 : no(EISCONN); }
static int abstract(void) { int s = socket(AF_UNIX, SOCK_STREAM, 0); struct sockaddr_un a = {.sun_family = AF_UNIX}; int n = snprintf(a.sun_path + 1, 100, "umbo-attempts-%d", host); return done(connect(s, (void *)&a, offsetof(struct sockaddr_un, sun_path) + 1 + n)); }
static struct sockaddr_in loop(int port) { struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)}; a.sin_addr.s_addr = htonl(0x7f000001); return a; }
static int tcp(void) { int s = socket(AF_INET, SOCK_STREAM, 0); struct sockaddr_in a = loop(tcp_port); return done(connect(s, (void *)&a, sizeof a)); }
static int tcp_mapped(void) { int s = socket(AF_INET6, SOCK_STREAM, 0); struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(tcp_port)}; a.sin6_addr.s6_addr[10] = a.sin6_addr.s6_addr[11] = 0xff; a.sin6_addr.s6_addr[12] = 127; a.sin6_addr.s6_addr[15] = 1; return done(connect(s, (void *)&a, sizeof a)); }
static int fast_open(void) { int s = socket(AF_INET, SOCK_STREAM, 0); struct sockaddr_in a = loop(tcp_port); return done(sendto(s, "x", 1, MSG_FASTOPEN, (void *)&a, sizeof a)); }
static int fast_open_message(void) { int s = socket(AF_INET, SOCK_STREAM, 0); struct sockaddr_in a = loop(tcp_port); struct iovec v = {"x", 1}; struct msghdr m = {.msg_name = &a, .msg_namelen = sizeof a, .msg_iov = &v, .msg_iovlen = 1}; return done(sendmsg(s, &m, MSG_FASTOPEN)); }
static int fast_open_option(void) { int s = socket(AF_INET, SOCK_STREAM, 0), one = 1; setsockopt(s, IPPROTO_TCP, 30, &one, 4); struct sockaddr_in a = loop(tcp_port); return done(connect(s, (void *)&a, sizeof a)); }
static int mptcp(void) { int s = socket(AF_INET, SOCK_STREAM, 262); struct sockaddr_in a = loop(tcp_port); return s < 0 ? -1 : done(connect(s, (void *)&a, sizeof a)); }
// A datagram has no answer: whether it arrived is seen by the one outside.
static int udp(void) { int s = socket(AF_INET, SOCK_DGRAM, 0); struct sockaddr_in a = loop(udp_port); if (s < 0) return -1; sendto(s, "x", 1, 0, (void *)&a, sizeof a); return no(ENODATA); }
static int udp_message(void) { int s = socket(AF_INET, SOCK_DGRAM, 0); struct sockaddr_in a = loop(udp_port); struct iovec v = {"x", 1}; struct msghdr m = {.msg_name = &a, .msg_namelen = sizeof a, .msg_iov = &v, .msg_iovlen = 1}; if (s < 0) return -1; sendmsg(s, &m, 0); return no(ENODATA); }
static int vsock(void) { return done(socket(40, SOCK_STREAM, 0)); }
static int packet(void) { return done(socket(AF_PACKET, SOCK_RAW, 0)); }
static int raw(void) { return done(socket(AF_INET, SOCK_RAW, 1)) == 0 && geteuid() == 0 ? no(ENODATA) : -1; }
static int alg(void) { return done(socket(38, SOCK_SEQPACKET, 0)); }
static int audit(void) { return done(socket(AF_NETLINK, SOCK_RAW, 9)); }
static int shared_memory(void) { void *p = shmat(shm_id, 0, 0); if (p == (void *)-1) return -1; strcpy(p, "escaped"); return 0; }
static int inherited(void) { for (int f = 3; f < 1024; f++) if (fcntl(f, F_GETFD) >= 0) return 0; return no(EBADF); }
static int privileges(void) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? no(EPERM) : 0; }
// A file outside, mapped to be read, written through one's own memory.
static int own_memory(void) {
    int f = open(out("file"), O_RDONLY), m = open("/proc/self/mem", O_RDWR);
    char *p = mmap(0, 4096, PROT_READ, MAP_SHARED, f, 0);
    return p == MAP_FAILED || m < 0 ? -1 : done(pwrite(m, "escaped", 7, (off_t)p));
}
// Whatever process is called as its supervisor is, but for the first one inside, whose own rules protect it.
static int kill_supervisor(void) {
    for (int pid = 2; pid < 70000; pid++) {
        char p[64], name[8] = {0}; snprintf(p, 64, "/proc/%d/comm", pid);
        int f = open(p, O_RDONLY); if (f < 0) continue;
        long n = read(f, name, 7); close(f);
        if (n > 3 && strncmp(name, "umbo", 4) == 0 && kill(pid, 0) == 0) return 0;
    }
    return no(ESRCH);
}
static int type_ahead(void) { int t = open("/dev/ptmx", O_RDWR | O_NOCTTY); return t < 0 ? -1 : done(ioctl(t, TIOCSTI, "x")); }

// A path that another thread changes while the kernel, or whoever is asked, looks at it.
static char racing[4096], good[4096], evil[4096];
static volatile int racing_on;
static void *swap(void *x) { while (racing_on) { memcpy(racing, evil, 4096); memcpy(racing, good, 4096); } return x; }
static int race(int (*once)(void)) {
    pthread_t t; racing_on = 1; memcpy(racing, good, 4096);
    if (pthread_create(&t, 0, swap, 0)) return -1;
    for (int i = 0; i < 2000; i++) once();
    racing_on = 0; pthread_join(t, 0);
    return no(EAGAIN); // What is outside is looked at afterwards.
}
static int create_racing(void) { int f = open(racing, O_WRONLY | O_CREAT | O_TRUNC, 0600); if (f >= 0) { if (write(f, "escaped", 7) < 0) {} close(f); } return 0; }
static int race_path(void) { strcpy(good, own("racer")); strcpy(evil, out("file")); return race(create_racing); }
static int chmod_racing(void) { return chmod(racing, 0777); }
static int race_mode(void) { int f = open(own("racer"), O_CREAT | O_WRONLY, 0600); close(f); strcpy(good, own("racer")); strcpy(evil, out("file")); return race(chmod_racing); }
static int connected;
static int connect_racing(void) { int s = socket(AF_UNIX, SOCK_STREAM, 0); if (connect(s, (void *)racing, sizeof(struct sockaddr_un)) == 0) { struct sockaddr_un a; socklen_t n = sizeof a; if (getpeername(s, (void *)&a, &n) == 0 && strcmp(a.sun_path, out("sock")) == 0) connected++; } close(s); return 0; }
static int race_socket(void) {
    struct sockaddr_un g = name_of(own("mysock")), e = name_of(out("sock")); unlink(own("mysock"));
    int l = socket(AF_UNIX, SOCK_STREAM, 0); if (bind(l, (void *)&g, sizeof g) || listen(l, 4096)) return -1;
    memcpy(good, &g, sizeof g); memcpy(evil, &e, sizeof e); race(connect_racing); return connected ? 0 : no(EAGAIN);
}
// A directory that is now a directory of ours, now a link to one outside.
static void *flip(void *x) { while (racing_on) syscall(SYS_renameat2, AT_FDCWD, own("flip"), AT_FDCWD, own("flop"), 2); return x; }
static int race_directory(void) {
    mkdir(own("flip"), 0755); unlink(own("flop")); if (symlink(outside, own("flop"))) return -1;
    pthread_t t; racing_on = 1; if (pthread_create(&t, 0, flip, 0)) return -1;
    for (int i = 0; i < 2000; i++) { int f = open(own("flip/raced"), O_WRONLY | O_CREAT, 0600); if (f >= 0) close(f); mkdir(own("flip/raced2"), 0755); rename(own("flip/raced"), own("flip/file")); unlink(own("flip/dir")); chmod(own("flip/file"), 0777); }
    racing_on = 0; pthread_join(t, 0); return no(EAGAIN);
}

#define T(name) {#name, name}
static struct { const char *name; int (*attempt)(void); } attempts[] = {
    T(write_file), T(append_file), T(truncate_open), T(create_file), T(create_nameless), T(open_how), T(by_directory), T(by_dots), T(by_symlink), T(by_dangling), T(by_linked_directory),
    T(hard_link_in), T(hard_link_out), T(rename_in), T(rename_over), T(exchange), T(delete_file), T(make_directory), T(remove_directory), T(make_link), T(make_fifo), T(truncate_path),
    T(change_mode), T(change_mode_at), T(change_mode_at2), T(change_mode_open), T(change_mode_path), T(change_owner), T(change_owner_open), T(change_times), T(change_times_open),
    T(set_attribute), T(set_attribute_open), T(set_flags), T(reopen), T(bind_outside), T(read_secret), T(read_secret_linked), T(read_secret_hard), T(root_of_host), T(secret_of_host), T(cwd_of_host),
    T(environment_of_host), T(memory_of_host), T(root_of_first), T(environment_of_first), T(memory_of_first), T(root_of_parent), T(trace_host), T(trace_first), T(read_host), T(descriptor_of_host),
    T(kill_host), T(kill_first), T(kill_all), T(limit_host), T(nice_host), T(uring), T(keys), T(add_key), T(bpf), T(perf), T(fault), T(new_users), T(new_mounts), T(clone_users), T(clone3_users),
    T(mount_over), T(remount), T(unmount), T(mount_new), T(tree_open), T(set_mount), T(change_root), T(by_handle), T(join_host), T(join_pidfd), T(make_device), T(memory_device), T(kernel_messages), T(terminal), T(disk),
    T(core_pattern), T(sysrq), T(group), T(release_agent), T(firmware), T(module), T(unix_stream), T(unix_linked), T(unix_relative), T(unix_datagram), T(unix_pair), T(unix_message), T(abstract), T(tcp), T(tcp_mapped),
    T(fast_open), T(fast_open_message), T(fast_open_option), T(mptcp), T(udp), T(udp_message), T(vsock), T(packet), T(raw), T(alg), T(audit), T(shared_memory), T(inherited), T(privileges), T(own_memory), T(kill_supervisor), T(type_ahead),
    T(race_path), T(race_mode), T(race_socket), T(race_directory),
#ifdef __x86_64__
    T(old_call), T(x32_call),
#endif
};

int main(int n, char **words) {
    if (n != 8) return 98;
    if (geteuid() == 0 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return 96;
    outside = words[1], inside = words[2], secret = words[3], host = atoi(words[4]);
    tcp_port = atoi(words[5]), udp_port = atoi(words[6]), shm_id = atoi(words[7]);
    setvbuf(stdout, 0, _IOLBF, 0);
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        pid_t child = fork();
        if (child < 0) return 97;
        if (child == 0) {
            alarm(20);
            errno = 0;
            int result = attempts[i].attempt();
            if (result == 0) printf("%s ESCAPED\n", attempts[i].name);
            else printf("%s refused %d\n", attempts[i].name, errno);
            exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status)) printf("%s refused by signal %d\n", attempts[i].name, WTERMSIG(status));
    }
    printf("all tried\n");
    return 0;
}
