/* SPDX-License-Identifier: Apache-2.0 */
/*
 * playbooks/content.h - a file whose whole content is decided here: what copy, template,
 * lineinfile, blockinfile have in common.
 *
 * by_digest: the content is known before the host was asked (copy, template), so the host only
 * sends a digest (and, for --diff, the old content if it differs). Otherwise the module has fetched
 * the content to edit it.
 */
#ifndef MUSTER_PLAYBOOKS_CONTENT_H
#define MUSTER_PLAYBOOKS_CONTENT_H

#include "playbooks/module.h"

struct content {
	const char *path;
	struct str content;
	bool secret; /* never shown */
	bool by_digest;
	bool keep; /* force: no - an existing file is left as it is */
	char sha256[SHA256_HEX];
	struct path_info now;
	struct attrs at;
	bool write;
};

/* Sets sha256; asks for stat, digest and, for --diff, the old content. */
void content_probe(const struct mod_call *c, struct content *w, struct probe *p);
/* Compares; adds the changes, sets w->write, at, and the result's fields. */
must_check int content_check(const struct mod_call *c, const struct answers *an, struct content *w,
			     struct changes *ch, struct err *e);
/* For edited files: content, digest and stat are read into w->now first. Fails the task if it is
 * too large or no file. */
must_check int content_fetch(const struct answers *an, struct content *w, struct changes *ch);
void content_patch(const struct mod_call *c, const struct content *w, const struct changes *ch,
		   struct patch *p);

struct text_lines {
	VEC(struct str) v; /* each with its newline; borrowed of the text */
};
/* Adds the text's lines. */
void text_lines_split(struct arena *a, struct str text, struct text_lines *out);
struct str text_lines_join(struct arena *a, const struct text_lines *l);

/* Rows that content_patch reads. */
#define ARG_CONTENT_ROWS                                                                      \
	{ "backup", ARG_BOOL, 0, "no", NULL, NULL, "keep a copy of the old file beside it" }, \
	{                                                                                     \
		"validate", ARG_STR, 0, NULL, NULL, NULL,                                     \
			"command that must accept the new file, %s"                           \
	}

#endif
