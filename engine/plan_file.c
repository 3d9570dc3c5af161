/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan in a file: a line that says what it is, with a digest and a signature of the bytes that
 * follow, then the plan as JSON. Both are over the bytes as they lie there, so whoever changes one
 * of them, wherever, is noticed. The digest tells damage; the signature, made with the key beside
 * the state, tells a plan that somebody wrote, or that is of another state. What is applied later
 * comes from the spec, not from the file (the plan's own digests say that both are still the same),
 * so secrets are not in it, only "(sensitive)".
 */
#include <errno.h>
#include <sys/stat.h>

#include "engine/context.h"
#include "engine/plan_doc.h"

#define PLAN_FORMAT   2
#define PLAN_PURPOSE  "plan file"
/* what can be read back as JSON; ten thousand machines that are replaced take 9 MiB */
#define PLAN_MAX_FILE JSON_MAX_DEFAULT
#define HEAD_MAX      512

static const char *state_of(struct arena *a, const struct engine *en)
{
	return fs_join(a, en->o.state_dir, "state.db");
}

/* Read back by writing it again and comparing: nothing in it can be different and still be taken. */
static void write_head(struct buf *b, const char *digest, const char *signature)
{
	buf_addf(b, "{\"muster_plan\": %d, \"sha256\": \"%s\", \"signature\": \"%s\"}\n",
		 PLAN_FORMAT, digest, signature);
}

int plan_save(struct engine *en, const struct plan *p, const char *path, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("plan file");
	scoped(buf_fini) struct buf body = { 0 }, file = { 0 };
	char digest[SHA256_HEX], signature[SHA256_HEX];

	buf_init(&body, PLAN_MAX_FILE - HEAD_MAX);
	json_write(&body, plan_value(a, p), JSON_PRETTY);
	if (buf_check(&body, e))
		return err_wrap(e, "writing the plan");
	sha256_hex(buf_str(&body), digest);
	if (state_sign(state_of(a, en), PLAN_PURPOSE, buf_str(&body), signature, e))
		return err_wrap(e, "writing the plan");
	buf_init(&file, PLAN_MAX_FILE);
	write_head(&file, digest, signature);
	buf_addstr(&file, buf_str(&body));
	return fs_write_atomic(path, buf_str(&file), 0600, e);
}

static int refuse(struct err *e, const char *path)
{
	if (e->kind == ERR_SPEC)
		e->kind = ERR_CONFLICT; /* what is wrong is the file, not the spec */
	err_wrap(e, "%s is no plan that muster can apply", path);
	return err_hint(e, "make a new one with `muster plan --out %s`", path);
}

/* A pipe or a device might never end, and is never what `muster plan` has written. */
static int check_file(const char *path, struct err *e)
{
	struct stat st;

	if (stat(path, &st)) {
		int saved = errno;
		err_sys(e, "opening %s", path);
		if (saved == ENOENT)
			e->kind = ERR_NOT_FOUND;
		return err_wrap(e, "reading the plan");
	}
	if (!S_ISREG(st.st_mode)) {
		err_set(e, ERR_CONFLICT, "it is no regular file");
		return refuse(e, path);
	}
	if ((uint64_t)st.st_size <= PLAN_MAX_FILE)
		return 0;
	err_set(e, ERR_CONFLICT, "it has more than %zu MiB", PLAN_MAX_FILE >> 20);
	return refuse(e, path);
}

/* The digest and the signature that the head names, at most as long as they may be. */
static int read_head(struct arena *a, struct str head, char digest[SHA256_HEX],
		     char signature[SHA256_HEX], struct err *e)
{
	struct value *v = NULL;
	struct err ignored = { 0 };

	if (head.n > HEAD_MAX || json_parse(a, "head", head, &v, &ignored) ||
	    !value_get(v, "muster_plan"))
		return err_set(e, ERR_CONFLICT, "it does not begin as a plan does");
	if (value_get_int(v, "muster_plan", 0) != PLAN_FORMAT)
		return err_set(e, ERR_CONFLICT, "its format is not %d: another version wrote it",
			       PLAN_FORMAT);
	struct str d = value_get_str(v, "sha256", ""), s = value_get_str(v, "signature", "");
	if (d.n != SHA256_HEX - 1 || s.n != SHA256_HEX - 1)
		return err_set(e, ERR_CONFLICT, "its head was changed after it was written");
	memcpy(digest, d.p, SHA256_HEX);
	memcpy(signature, s.p, SHA256_HEX);
	return 0;
}

static int check_bytes(struct engine *en, struct arena *a, struct str text, struct str *body,
		       struct err *e)
{
	char digest[SHA256_HEX], signature[SHA256_HEX], found[SHA256_HEX];
	scoped(buf_fini) struct buf again = { 0 };
	size_t end = str_find_char(str_sub(text, 0, HEAD_MAX), '\n');
	struct str head = str_sub(text, 0, end == SIZE_MAX ? HEAD_MAX : end + 1);

	if (read_head(a, head, digest, signature, e))
		return -1;
	buf_init(&again, HEAD_MAX);
	write_head(&again, digest, signature);
	if (!str_eq(head, buf_str(&again)))
		return err_set(e, ERR_CONFLICT, "its head was changed after it was written");
	*body = str_sub(text, head.n, SIZE_MAX);
	sha256_hex(*body, found);
	if (strcmp(found, digest) != 0)
		return err_set(e, ERR_CONFLICT, "it was changed or cut after it was written");
	if (state_verify(state_of(a, en), PLAN_PURPOSE, *body, signature, e))
		return err_wrap(e, "it was edited, or made for another state");
	return 0;
}

int plan_load(struct engine *en, struct arena *a, const char *path, struct plan **out,
	      struct err *e)
{
	struct value *plan = NULL;
	struct str text, body;

	if (check_file(path, e))
		return -1;
	if (fs_read(a, path, PLAN_MAX_FILE, &text, e))
		return err_wrap(e, "reading the plan");
	if (check_bytes(en, a, text, &body, e) || json_parse(a, path, body, &plan, e) ||
	    plan_read(a, plan, out, e))
		return refuse(e, path);
	(*out)->is_saved = true;
	return 0;
}
