/* Under valgrind /proc/self/exe is valgrind: whoever starts it is given the program that is meant. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *meant(const char *path)
{
    const char *program = getenv("UMBO_ORDER_PROGRAM");
    return program && strcmp(path, "/proc/self/exe") == 0 ? program : path;
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const words[], char *const variables[])
{
    int (*next)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                const posix_spawnattr_t *, char *const[], char *const[]) =
        dlsym(RTLD_NEXT, "posix_spawnp");
    return next(pid, meant(file), actions, attributes, words, variables);
}
