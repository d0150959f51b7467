/* Runs a program and writes which places of it the copies run that it makes of itself, a file for each: valgrind does
   not follow those. They go step by step; the program runs freely, and so does what a copy becomes by exec. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64, GRAIN = 16 };
static const uintptr_t begin = 0x200000, end = 0x8000000; /* of a program at a fixed address */

static struct process {
    pid_t pid;
    unsigned char *seen;
    FILE *places;
} processes[MOST];

static struct process *process(pid_t pid)
{
    struct process *free_one = NULL;
    for (int i = 0; i < MOST; i++) {
        if (processes[i].pid == pid)
            return &processes[i];
        if (!processes[i].pid && !free_one)
            free_one = &processes[i];
    }
    return free_one;
}

int main(int count, char **words)
{
    if (count < 3)
        return 2;
    pid_t first = fork();
    if (first == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        execv(words[2], words + 2);
        _exit(127);
    }
    int status, code = 1, number = 0;
    waitpid(first, &status, 0);
    ptrace(PTRACE_SETOPTIONS, first, 0,
           PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
    ptrace(PTRACE_CONT, first, 0, 0);
    for (pid_t pid; (pid = waitpid(-1, &status, __WALL)) > 0;) {
        struct process *one = process(pid);
        if (!WIFSTOPPED(status)) {
            if (pid == first)
                code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
            if (one && one->pid) {
                fclose(one->places);
                free(one->seen);
                memset(one, 0, sizeof *one);
            }
            continue;
        }
        int event = status >> 16, signal = WSTOPSIG(status);
        if (event == PTRACE_EVENT_EXEC && pid != first) {
            ptrace(PTRACE_DETACH, pid, 0, 0);
            continue;
        }
        if (one && !one->pid && pid != first) {
            char name[4096];
            snprintf(name, sizeof name, "%s.%d", words[1], number++);
            one->pid = pid;
            one->seen = calloc(1, (end - begin) / GRAIN);
            one->places = fopen(name, "w");
            if (!one->seen || !one->places)
                return 1;
        }
        struct user_regs_struct registers;
        if (one && one->pid && ptrace(PTRACE_GETREGS, pid, 0, &registers) == 0 && registers.rip >= begin && registers.rip < end) {
            unsigned char *seen = &one->seen[(registers.rip - begin) / GRAIN];
            if (!*seen)
                fprintf(one->places, "%llx\n", registers.rip);
            *seen = 1;
        }
        int is_ours = event || signal == SIGTRAP || signal == SIGSTOP;
        ptrace(pid == first ? PTRACE_CONT : PTRACE_SINGLESTEP, pid, 0, is_ours ? 0 : signal);
    }
    return code;
}
