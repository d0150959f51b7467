/* Runs a program and writes which of its functions run: a file for each process of it, in the order in which that one
   comes to them. Each function begins with a breakpoint, which goes when it is reached, so all but that is as quick as
   ever. What a process becomes by exec goes its own way, unless it is the program again.

   order FUNCTIONS PREFIX PROGRAM [WORD]…    FUNCTIONS: a file with their addresses, ascending */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 256, BREAKPOINT = 0xcc, QUIET_MS = 300 };

static struct thread {
    pid_t pid, process;
    int memory; /* of its process */
    FILE *places;
} threads[MOST];

static unsigned long *functions;
static size_t count, bytes;
static unsigned char *original, *armed;
static const char *prefix;
static char program[PATH_MAX];
static int files;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void read_functions(const char *name)
{
    FILE *file = fopen(name, "r");
    if (!file)
        fail(name);
    for (unsigned long place; fscanf(file, "%lx", &place) == 1; functions[count++] = place)
        if (count % 4096 == 0 && !(functions = realloc(functions, (count + 4096) * sizeof *functions)))
            fail("realloc");
    fclose(file);
    if (!count)
        exit(1);
    bytes = functions[count - 1] - functions[0] + 1;
    original = malloc(bytes);
    armed = calloc(bytes, 1);
    if (!original || !armed)
        fail("malloc");
}

static int is_function(unsigned long place)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (functions[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && functions[low] == place;
}

static void put(int memory, const unsigned char *from)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t put = pwrite(memory, from + done, bytes - done, (off_t)(functions[0] + done));
        if (put <= 0)
            return; /* it has just ended */
        done += (size_t)put;
    }
}

static int runs_program(pid_t pid)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%d/exe", pid);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return strcmp(path, program) == 0;
}

/* Puts the breakpoints into a process that runs the program; into the first one for the first time. */
static void arm(const struct thread *one)
{
    if (!runs_program(one->pid))
        return;
    if (!armed[0]) {
        for (size_t done = 0; done < bytes;) {
            ssize_t got = pread(one->memory, original + done, bytes - done, (off_t)(functions[0] + done));
            if (got <= 0)
                fail("the program's code");
            done += (size_t)got;
        }
        memcpy(armed, original, bytes);
        for (size_t i = 0; i < count; i++)
            armed[functions[i] - functions[0]] = BREAKPOINT;
    }
    put(one->memory, armed);
}

static int open_memory(pid_t pid)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/mem", pid);
    return open(name, O_RDWR | O_CLOEXEC);
}

static pid_t process_of(pid_t pid)
{
    char name[64], line[256];
    pid_t process = pid;
    snprintf(name, sizeof name, "/proc/%d/status", pid);
    FILE *file = fopen(name, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Tgid: %d", &process) == 1)
            break;
    if (file)
        fclose(file);
    return process;
}

static struct thread *find(pid_t pid)
{
    for (int i = 0; i < MOST; i++)
        if (threads[i].pid == pid)
            return &threads[i];
    return NULL;
}

static struct thread *begin(pid_t pid)
{
    struct thread *one = find(0);
    if (!one) {
        fprintf(stderr, "order: too many threads\n");
        exit(1);
    }
    *one = (struct thread){.pid = pid, .process = process_of(pid)};
    struct thread *process = one->process == pid ? NULL : find(one->process);
    if (process) {
        one->memory = process->memory;
        one->places = process->places;
        return one;
    }
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s.%03d", prefix, files++);
    one->places = fopen(name, "w");
    one->memory = open_memory(pid);
    if (!one->places || one->memory < 0)
        fail(name);
    setlinebuf(one->places);
    arm(one);
    return one;
}

static void end(struct thread *one)
{
    if (one->process == one->pid) {
        close(one->memory);
        fclose(one->places);
    }
    one->pid = 0;
}

/* Whether it stands behind a breakpoint, which is then gone. */
static int reached(const struct thread *one)
{
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, one->pid, 0, &registers) != 0 || !is_function(registers.rip - 1))
        return 0;
    unsigned long place = --registers.rip;
    if (pwrite(one->memory, &original[place - functions[0]], 1, (off_t)place) == 1)
        fprintf(one->places, "%lx\n", place);
    ptrace(PTRACE_SETREGS, one->pid, 0, &registers);
    return 1;
}

static void stopped(pid_t pid, int status)
{
    struct thread *one = find(pid);
    int is_new = !one, event = status >> 16, signal = WSTOPSIG(status);
    if (is_new)
        one = begin(pid);
    if (event == PTRACE_EVENT_EXEC) {
        if (!runs_program(pid)) {
            end(one);
            ptrace(PTRACE_DETACH, pid, 0, 0);
            return;
        }
        close(one->memory);
        one->memory = open_memory(pid);
        arm(one);
    }
    /* Whoever gave back the memory of its code before it had somebody work for it gave back the breakpoints. */
    if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_VFORK)
        arm(one);
    int is_ours = event || (is_new && signal == SIGSTOP) || (signal == SIGTRAP && reached(one));
    ptrace(PTRACE_CONT, pid, 0, is_ours ? 0 : signal);
}

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int main(int number, char **words)
{
    if (number < 4 || !realpath(words[3], program))
        return 2;
    read_functions(words[1]);
    prefix = words[2];
    pid_t first = fork();
    if (first == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        execv(words[3], words + 3);
        _exit(127);
    }
    int status, code = -1;
    waitpid(first, &status, 0);
    ptrace(PTRACE_SETOPTIONS, first, 0,
           PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC);
    begin(first);
    ptrace(PTRACE_CONT, first, 0, 0);
    /* What outlives the first of them is let go when nothing new comes any more. */
    for (long last = now_ms(); code < 0 || now_ms() - last < QUIET_MS;) {
        pid_t pid = waitpid(-1, &status, __WALL | (code < 0 ? 0 : WNOHANG));
        if (pid < 0)
            break;
        if (pid == 0) {
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
            continue;
        }
        last = now_ms();
        if (WIFSTOPPED(status)) {
            stopped(pid, status);
            continue;
        }
        struct thread *one = find(pid);
        if (one)
            end(one);
        if (pid == first)
            code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    }
    for (int i = 0; i < MOST; i++)
        if (threads[i].pid && threads[i].pid == threads[i].process && runs_program(threads[i].pid))
            put(threads[i].memory, original);
    return code < 0 ? 1 : code;
}
