/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/banned.h - functions that nobody here calls.
 *
 * The Makefile puts this in front of every C file (-include), so it may include nothing: some files
 * must choose feature macros before the first system header. Each name is declared a second time
 * with an attribute that makes any use an error
 * (-Werror=deprecated-declarations), with gcc and clang alike. `#pragma GCC poison` was not taken:
 * it forbids the word, so it breaks the system headers that declare the function, and libraries
 * with a member of that name (libgit2 has a `ctime`). tools/lint-banned looks for the same names
 * without compiling.
 *
 * MUSTER_MAY_PRINT is defined for cli/ and tests, which may use the second list.
 */
#ifndef MUSTER_BASE_BANNED_H
#define MUSTER_BASE_BANNED_H

#define MUSTER_BANNED(instead) __attribute__((deprecated("banned here: use " instead)))

struct tm;
struct _IO_FILE;

char *strcpy(char *to, const char *from) MUSTER_BANNED("arena_strdup or struct buf");
char *strcat(char *to, const char *from) MUSTER_BANNED("struct buf");
char *strncpy(char *to, const char *from, __SIZE_TYPE__ n) MUSTER_BANNED("snprintf or struct buf");
char *strncat(char *to, const char *from, __SIZE_TYPE__ n) MUSTER_BANNED("struct buf");
char *strtok(char *s, const char *delim) MUSTER_BANNED("str_next");
int sprintf(char *to, const char *fmt, ...) MUSTER_BANNED("snprintf or buf_addf");
int vsprintf(char *to, const char *fmt, __builtin_va_list ap) MUSTER_BANNED("vsnprintf");
char *gets(char *s) MUSTER_BANNED("fs_read");
struct tm *localtime(const long *t) MUSTER_BANNED("localtime_r");
struct tm *gmtime(const long *t) MUSTER_BANNED("gmtime_r");
char *ctime(const long *t) MUSTER_BANNED("clock_iso");
char *mktemp(char *template) MUSTER_BANNED("mkstemp or fs_write_atomic");
int system(const char *command) MUSTER_BANNED("base/proc.h");
struct _IO_FILE *popen(const char *command, const char *mode) MUSTER_BANNED("base/proc.h");
int atoi(const char *s) MUSTER_BANNED("str_to_int");

#ifndef MUSTER_MAY_PRINT
char *getenv(const char *name) MUSTER_BANNED("env_get");
void exit(int status) MUSTER_BANNED("struct err, or bug()");
int printf(const char *fmt, ...) MUSTER_BANNED("a return value: only cli/ prints");
#endif

#endif
