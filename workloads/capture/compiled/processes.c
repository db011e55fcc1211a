/* SPDX-License-Identifier: BSD-3-Clause */
/* How a process ends, or becomes another program. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "wrap.h"

#define END(name)                                                              \
    extern void __real_##name(int) __attribute__((noreturn));                 \
    CT_EXPORT __attribute__((noreturn)) void __wrap_##name(int status) {       \
        ct_end_process(status);                                                \
        __real_##name(status);                                                 \
    }
END(_exit)
END(_Exit)

static void executes(const char* path) {
    ct_control(CT_EXECUTED, NULL, 0, path);
    ct_hand_over();
}
static int is_not_executed(int result) {
    ct_control(CT_EXECUTED, NULL, 0, "");
    return result;
}
REAL(int, execve, const char* path, char* const* arguments, char* const* environment) {
    executes(path);
    return is_not_executed(__real_execve(path, arguments, environment));
}
REAL(int, execv, const char* path, char* const* arguments) {
    executes(path);
    return is_not_executed(__real_execv(path, arguments));
}
REAL(int, execvp, const char* path, char* const* arguments) {
    executes(path);
    return is_not_executed(__real_execvp(path, arguments));
}
REAL(int, execvpe, const char* path, char* const* arguments, char* const* environment) {
    executes(path);
    return is_not_executed(__real_execvpe(path, arguments, environment));
}
/* With the arguments in a list, and perhaps an environment behind its end. */
#define EXECUTE_LIST(name, environment_follows, call)                                                  \
    CT_EXPORT int __wrap_##name(const char* path, const char* first, ...) {                            \
        va_list list;                                                                                   \
        size_t count = 1;                                                                               \
        va_start(list, first);                                                                          \
        for (const char* one = first; one; one = va_arg(list, const char*)) ++count;                    \
        va_end(list);                                                                                   \
        char* arguments[count];                                                                         \
        char** environment = environ;                                                                   \
        va_start(list, first);                                                                          \
        arguments[0] = (char*)first;                                                                    \
        for (size_t i = 1; i < count; ++i) arguments[i] = va_arg(list, char*);                          \
        if (environment_follows) environment = va_arg(list, char**);                                    \
        va_end(list);                                                                                   \
        return call(path, arguments, environment);                                                      \
    }
EXECUTE_LIST(execl, 0, __wrap_execve)
EXECUTE_LIST(execle, 1, __wrap_execve)
EXECUTE_LIST(execlp, 0, __wrap_execvpe)
