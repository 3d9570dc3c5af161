/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/attr.h - the compiler attributes of the house, and bug().
 *
 * Everyone includes this; it includes nothing of ours.
 */
#ifndef MUSTER_BASE_ATTR_H
#define MUSTER_BASE_ATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define must_check		 __attribute__((warn_unused_result))
#define printf_fmt(fmt, first)	 __attribute__((format(printf, fmt, first)))
#define scoped(cleanup_function) __attribute__((cleanup(cleanup_function)))
#define no_return		 __attribute__((noreturn))
#define unused_arg		 __attribute__((unused))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* An impossible state: writes one line to stderr and aborts. The journal already says where we
 * were. */
no_return void bug(const char *fmt, ...) printf_fmt(1, 2);

#endif
