/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/log.h - diagnostics for -v and -vv, and the scrubber that keeps secrets out of them and of
 * every other output.
 *
 * The cli sets the sink once. Every secret that the program learns is registered; scrub() replaces
 * each occurrence (also base64 and URL-encoded) with "(sensitive)". Secrets shorter than 4 bytes
 * are not scrubbed (they would tear text apart).
 */
#ifndef MUSTER_BASE_LOG_H
#define MUSTER_BASE_LOG_H

#include "base/str.h"

enum log_level { LOG_WARN, LOG_INFO, LOG_DEBUG };

/* line: scrubbed, no newline */
typedef void log_sink_fn(void *arg, enum log_level level, const char *line);

/* NULL: silent (the default) */
void log_set_sink(log_sink_fn *sink, void *arg, enum log_level max);
bool log_enabled(enum log_level level);
void log_msg(enum log_level level, const char *fmt, ...) printf_fmt(2, 3);
#define log_warn(...)  log_msg(LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_msg(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_msg(LOG_DEBUG, __VA_ARGS__)

void scrub_register(struct str secret);	      /* copied; wiped by scrub_reset */
void scrub(struct buf *out, struct str text); /* appends text without secrets */
void scrub_reset(void);			      /* at exit and between tests */

#endif
