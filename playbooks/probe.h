/* SPDX-License-Identifier: Apache-2.0 */
/*
 * playbooks/probe.h - questions to a host, asked many at a time, and the answers.
 *
 * A module never runs anything to find out how a host is: it adds requests to a `struct probe`.
 * Requests of a whole window are deduplicated and go out as one script, in which each kind of
 * request is answered by as few processes as can be (one stat over all paths, one dpkg-query over
 * all packages). The answer to a request is a short text in a fixed form, so it can be repeated: a
 * guard asks the same again just before a patch and compares digests.
 *
 * Rule for modules: ask for what the decision needs and no more. What is only a precondition of the
 * patch (does the parent folder exist?) is tested by the patch itself: asking would tie the
 * decision to things that earlier patches of the same window change.
 */
#ifndef MUSTER_PLAYBOOKS_PROBE_H
#define MUSTER_PLAYBOOKS_PROBE_H

#include "playbooks/probe_kinds.h"

struct probe {
	struct arena *a;
	struct map index; /* identity -> struct probe_req * */
	VEC(struct probe_req *) reqs[PROBE_KINDS];
	size_t n;
};

void probe_init(struct probe *p, struct arena *a);
/* Adds it unless it is there. Only kinds with the same number and extra are the same request. */
void probe_add(struct probe *p, const struct probe_req *req);
void probe_ask(struct probe *p, enum probe_kind kind, const char *key); /* number 0, no extra */
void probe_merge(struct probe *p, const struct probe *other);

/* What a path is, in one call. */
enum path_want {
	PATH_STAT = 1,	 /* always implied */
	PATH_FOLLOW = 2, /* of what it leads to (stat; content and digests always follow) */
	PATH_LINK = 4,	 /* the target of a symbolic link */
	PATH_SHA256 = 8,
	PATH_CONTENT = 16, /* up to PATH_CONTENT_MAX bytes */
};
#define PATH_CONTENT_MAX ((size_t)1 << 20)
void probe_path(struct probe *p, const char *path, unsigned want);
/* Content only if its sha256 is not known_sha: for --diff of files that are compared by digest. */
void probe_content_unless(struct probe *p, const char *path, const char *known_sha);

/* The script that answers all requests; it only reads. */
void probe_script(struct buf *b, const struct probe *p);

void probe_functions_into(struct buf *b); /* set-up and functions that guards need too */

struct answers {
	struct arena *a;
	struct map by_id; /* identity -> struct str *: the answer's payload, "" when there is
			     nothing */
};

void answers_init(struct answers *an, struct arena *a);
/* Reads what the script wrote; every request of p has an answer then. ERR_REMOTE if the text is
 * broken or cut short. */
must_check int answers_parse(struct answers *an, const struct probe *p, struct str out,
			     struct err *e);
/* For tests, and for predicting what a patch leaves behind. */
void answers_put(struct answers *an, const struct probe_req *req, struct str payload);
/* All of p's requests are answered, or can be from others: a content is not wanted where the digest
 * is the known one. */
bool answers_have(struct answers *an, const struct probe *p);
/* The payload; a request that was never asked is a bug of the module. Empty: there is no such thing
 * on the host. */
struct str answers_get(const struct answers *an, enum probe_kind kind, const char *key);
struct str answers_req(const struct answers *an, const struct probe_req *req);

enum path_type {
	PATH_NONE,
	PATH_FILE,
	PATH_DIR,
	PATH_SYMLINK,
	PATH_CHAR,
	PATH_BLOCK,
	PATH_FIFO,
	PATH_SOCKET
};

struct path_info {
	enum path_type type; /* PATH_NONE: not there */
	unsigned mode;	     /* 07777 */
	int64_t uid, gid, size;
	struct str owner, group; /* names, "UNKNOWN" if there is none */
	struct str link;	 /* PATH_LINK */
	struct str sha256; /* PATH_SHA256: 64 digits, or empty (no regular file, not readable) */
	bool has_content;  /* PATH_CONTENT: a readable file */
	bool too_large;	   /* more than was asked for; content is empty then */
	struct str content;
};
/* `want` as in probe_path. */
void answers_path(const struct answers *an, const char *path, unsigned want, struct path_info *out);
/* false: not sent (same digest, no regular file, unreadable). */
bool answers_content_unless(const struct answers *an, const char *path, const char *known_sha,
			    struct str *out, bool *too_large);
const char *path_type_name(enum path_type t); /* "absent", "file", "directory", "link", ... */

struct str answers_sysctl(const struct answers *an,
			  const char *key); /* the value; empty: there is none */

struct command_answer {
	int status;
	struct str out; /* stdout, last newline dropped */
};
void answers_command(const struct answers *an, const char *script, struct command_answer *out);

/* Shell text whose output has the digest `hex` as long as p's requests are answered as `an` says: a
 * guard. */
void probe_guard(struct buf *script, const struct probe *p);
void answers_digest(const struct answers *an, const struct probe *p, char hex[SHA256_HEX]);

#endif
