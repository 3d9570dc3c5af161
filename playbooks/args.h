/* SPDX-License-Identifier: Apache-2.0 */
/*
 * playbooks/args.h - arguments of modules: rows that say what a module takes, and the decoder that
 * they drive.
 *
 * The same rows check a play when it is loaded (names, required ones, literal values), decode the
 * rendered arguments of a call (aliases resolved, types coerced as Ansible coerces them, defaults
 * filled in), and print the documentation.
 */
#ifndef MUSTER_PLAYBOOKS_ARGS_H
#define MUSTER_PLAYBOOKS_ARGS_H

#include "base/base.h"

enum arg_type {
	ARG_STR,  /* numbers and booleans become text */
	ARG_PATH, /* a string without newline; ~ is left to the host's shell */
	ARG_BOOL, /* yes, no, on, off, true, false, 1, 0 in any case */
	ARG_INT,
	ARG_MODE, /* "0644", 0644, "u=rwX,g=rX": kept as it is, see mode_parse */
	ARG_LIST, /* of strings; a string is split at commas */
	ARG_DICT,
	ARG_RAW, /* anything */
};

enum arg_flags {
	ARG_REQUIRED = 1,
	ARG_SECRET = 2,	 /* never in changes, results or diffs */
	ARG_IGNORED = 4, /* accepted because roles use it; has no effect here (the doc says why) */
	ARG_NOT_YET = 8, /* Ansible has it, muster refuses it with a clear message */
};

struct module_arg {
	const char *name;
	enum arg_type type;
	unsigned flags;
	const char *fallback; /* default as a user would write it, or NULL */
	const char *choices;  /* "a|b|c", or NULL */
	const char *aliases;  /* "x|y", or NULL */
	const char *doc;      /* one phrase, no full stop */
};

/* Rows end with one whose name is NULL. */
#define ARG_END                                          \
	{                                                \
		NULL, ARG_STR, 0, NULL, NULL, NULL, NULL \
	}
/* What file, copy and template have in common. */
#define ARG_FILE_ATTRS                                                                         \
	{ "mode", ARG_MODE, 0, NULL, NULL, NULL, "permissions, octal in quotes or symbolic" }, \
		{ "owner", ARG_STR, 0, NULL, NULL, NULL, "user that owns it" },                \
		{ "group", ARG_STR, 0, NULL, NULL, NULL, "group that owns it" },               \
		{ "seuser", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "SELinux user" },          \
		{ "serole", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "SELinux role" },          \
		{ "setype", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "SELinux type" },          \
		{ "selevel", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "SELinux level" },        \
		{ "attributes", ARG_STR, ARG_NOT_YET, NULL, NULL, "attr", "chattr flags" },    \
	{                                                                                      \
		"unsafe_writes", ARG_BOOL, ARG_IGNORED, "no", NULL, NULL, "writes are atomic"  \
	}

/*
 * Checks the arguments as written: unknown names (with a suggestion), missing and refused ones,
 * literal values of the wrong type. Values with template markup are left for args_decode. `raw` is
 * a map or NULL.
 */
void args_check(const char *module, const struct module_arg *rows, const struct value *raw,
		struct pos pos, struct err_list *errs);
/* Rendered arguments to typed ones; the special value `omit` (value_is_omit) drops an argument.
 * ERR_SPEC with the position. */
must_check int args_decode(struct arena *a, const char *module, const struct module_arg *rows,
			   const struct value *raw, const struct value **out, struct err *e);
/* "src=a dest='b c' mode=0644" to a map of strings. `rest`, if not NULL, takes the words that are
 * not k=v (command, shell) as written and only keys in `rows` count as arguments then. */
must_check int args_parse_kv(struct arena *a, const struct module_arg *rows,
			     const struct value *text, struct value **out, struct str *rest,
			     struct err *e);

/* The value of Ansible's `omit` variable. */
#define ARG_OMIT "__muster_omit_this__"
bool value_is_omit(const struct value *v);
/* Ansible's idea of a boolean; -1 if v is none. */
int value_to_bool(const struct value *v, bool *out);

/* Decoded arguments. Absent or null: "" / NULL / false / the fallback. */
bool arg_has(const struct value *args, const char *name);
struct str arg_str(const struct value *args, const char *name);
const char *arg_cstr(const struct value *args, const char *name); /* NULL if absent */
bool arg_bool(const struct value *args, const char *name);
int64_t arg_int(const struct value *args, const char *name, int64_t fallback);
const struct value *arg_list(const struct value *args, const char *name); /* NULL if absent */

/* Applies a mode as written to `now` (the present permissions, or what a new one would have).
 * ERR_SPEC if it is none. */
must_check int mode_parse(const struct value *mode, bool is_dir, unsigned now, unsigned *out,
			  struct err *e);

#endif
