/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/lint-tidy.h - what the analyzer of `make lint-tidy` cannot know from declarations: these
 * functions return -1, always. Without it every `return err_set(...)` looks as if it might succeed
 * with its results unset.
 */
#include "base/err.h"

#define err_set(...)  ((void)(err_set)(__VA_ARGS__), -1)
#define err_sys(...)  ((void)(err_sys)(__VA_ARGS__), -1)
#define err_wrap(...) ((void)(err_wrap)(__VA_ARGS__), -1)
#define err_hint(...) ((void)(err_hint)(__VA_ARGS__), -1)
#define err_at(...)   ((void)(err_at)(__VA_ARGS__), -1)
#define err_on(...)   ((void)(err_on)(__VA_ARGS__), -1)
#define err_req(...)  ((void)(err_req)(__VA_ARGS__), -1)
