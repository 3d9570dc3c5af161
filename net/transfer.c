/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files up and down, as scripts through the host's shell: so they work the same for every become,
 * password or not, and locally, and a small file costs one round trip. Up: base64 in
 * here-documents, appended piece by piece to a temporary file beside the target. Down: the raw
 * bytes, since the frame carries them.
 */
#include <stdio.h>

#include "net/host.h"

#define PIECE	 ((size_t)3 << 20)
#define PIECE_MS 300000

enum {
	EXIT_DIGEST = 90,
	EXIT_IS_DIR = 91,
	EXIT_NO_FOLDER = 92,
	EXIT_ABSENT = 93,
	EXIT_TOO_BIG = 94
};

static void add_var(struct buf *b, const char *name, const char *value)
{
	buf_addf(b, "%s=", name);
	proc_quote(b, str_of(value));
	buf_addc(b, '\n');
}

/* sha256sum is in coreutils and busybox; openssl is the way out on odd systems. */
static const char digest_function[] =
	"digest() { if command -v sha256sum >/dev/null 2>&1; then sha256sum; "
	"else openssl dgst -sha256 -r; fi | cut -d' ' -f1; }\n";

static int remote_failure(const struct script_result *r, const char *doing, const char *path,
			  struct err *e)
{
	struct str rest = str_trim(r->err), line, last = STR_NONE;

	while (str_next_line(&rest, &line))
		last = line;
	if (last.n)
		err_set(e, ERR_REMOTE, "%s %s: " STR_FMT, doing, path, STR_ARG(last));
	else
		err_set(e, ERR_REMOTE, "%s %s failed with status %d", doing, path, r->status);
	e->code = r->status;
	return -1;
}

static int run(struct host *h, struct arena *a, const struct buf *script, struct script_result *r,
	       struct err *e)
{
	struct script_opts o = { .deadline = deadline_in(PIECE_MS) };

	if (buf_check(script, e) != 0)
		return -1;
	return host_script(h, a, buf_str(script), &o, r, e);
}

/* ---- up --------------------------------------------------------------------------------------- */

/* The temporary file's name is chosen here, so that later pieces and the clean-up know it. */
static void temp_name(struct arena *a, const char *path, const char **temp, const char **folder)
{
	char token[TOKEN_LEN];
	const char *slash = strrchr(path, '/');

	rand_token(token);
	*folder = slash == path ? "/"
		  : slash	? str_cstr(a, (struct str){ path, (size_t)(slash - path) })
				: ".";
	*temp = arena_printf(a, "%s/.muster-%s", *folder, token);
}

static void add_piece(struct buf *b, struct str data)
{
	buf_adds(
		b,
		"if command -v base64 >/dev/null 2>&1; then d='base64 -d'; else d='openssl base64 -d -A'; fi\n"
		"$d >>\"$t\" <<'EOF' || exit 1\n");
	base64_encode(b, data);
	buf_adds(b, "\nEOF\n");
}

static void add_head(struct buf *b, const char *path, const char *folder)
{
	add_var(b, "p", path);
	add_var(b, "f", folder);
	buf_addf(b,
		 "[ -d \"$p\" ] && exit %d\n[ -d \"$f\" ] || exit %d\n"
		 "umask 077\n(set -C; : >\"$t\") || exit 1\n",
		 EXIT_IS_DIR, EXIT_NO_FOLDER);
}

/* Owner before mode: chown clears set-id bits. */
static void add_tail(struct buf *b, struct str content, const struct host_file *f)
{
	char hex[SHA256_HEX];

	sha256_hex(content, hex);
	add_var(b, "p", f->path);
	buf_adds(b, digest_function);
	buf_addf(b, "[ \"$(digest <\"$t\")\" = %s ] || exit %d\n", hex, EXIT_DIGEST);
	if (f->owner || f->group) {
		scoped(buf_fini) struct buf who = { 0 };

		buf_init(&who, 1024);
		buf_addf(&who, "%s%s%s", f->owner ? f->owner : "", f->group ? ":" : "",
			 f->group ? f->group : "");
		buf_adds(b, "chown ");
		proc_quote(b, buf_str(&who));
		buf_adds(b, " \"$t\" || exit 1\n");
	}
	buf_adds(b, "chmod ");
	proc_quote(b, str_of(f->mode ? f->mode : "0600"));
	buf_adds(b, " \"$t\" || exit 1\nmv -f \"$t\" \"$p\" || exit 1\ntrap - EXIT\n");
}

static int put_error(const struct script_result *r, const struct host_file *f, struct err *e)
{
	switch (r->status) {
	case EXIT_DIGEST:
		return err_set(e, ERR_IO,
			       "writing %s: what arrived has another digest than what was sent",
			       f->path);
	case EXIT_IS_DIR: return err_set(e, ERR_REMOTE, "writing %s: it is a directory", f->path);
	case EXIT_NO_FOLDER:
		err_set(e, ERR_NOT_FOUND, "writing %s: its directory does not exist", f->path);
		return err_hint(e, "create the directory first");
	default: return remote_failure(r, "writing", f->path, e);
	}
}

static int put_pieces(struct host *h, struct arena *a, struct str content,
		      const struct host_file *f, struct err *e)
{
	const char *temp, *folder;
	struct script_result r;
	size_t at = 0;

	temp_name(a, f->path, &temp, &folder);
	do {
		scoped(buf_fini) struct buf b = { 0 };
		struct str piece = str_sub(content, at, at + PIECE);
		bool last = at + piece.n == content.n;

		buf_init(&b, 2 * PIECE);
		add_var(&b, "t", temp);
		if (at == 0)
			add_head(&b, f->path, folder);
		buf_adds(&b, "trap 'rm -f \"$t\"' EXIT\n"); /* a failed piece leaves nothing */
		add_piece(&b, piece);
		if (last)
			add_tail(&b, content, f);
		else
			buf_adds(&b, "trap - EXIT\n");
		if (run(h, a, &b, &r, e) != 0)
			return -1;
		if (r.status != 0)
			return put_error(&r, f, e);
		at += piece.n;
	} while (at < content.n);
	return 0;
}

int host_put(struct host *h, struct str content, const struct host_file *f, struct err *e)
{
	struct arena *a = arena_new("put");
	int rc = put_pieces(h, a, content, f, e);

	arena_free(a);
	return rc;
}

/* ---- down ------------------------------------------------------------------------------------- */

static int get_once(struct host *h, struct arena *a, const char *path, size_t max, struct str *out,
		    struct err *e)
{
	struct script_opts o = { .max_output = max + 4096, .deadline = deadline_in(PIECE_MS) };
	scoped(buf_fini) struct buf b = { 0 };
	struct script_result r;
	char hex[SHA256_HEX];

	buf_init(&b, 64 << 10);
	add_var(&b, "p", path);
	buf_adds(&b, digest_function);
	buf_addf(&b,
		 "[ -e \"$p\" ] || exit %d\n[ -d \"$p\" ] && exit %d\n"
		 "[ \"$(wc -c <\"$p\")\" -le %zu ] || exit %d\n"
		 "cat <\"$p\" || exit 1\ndigest <\"$p\" >&2\n",
		 EXIT_ABSENT, EXIT_IS_DIR, max, EXIT_TOO_BIG);
	/* A path that was cut would be another path. */
	if (buf_check(&b, e) != 0 || host_script(h, a, buf_str(&b), &o, &r, e) != 0)
		return -1;
	switch (r.status) {
	case 0: break;
	case EXIT_ABSENT: return err_set(e, ERR_NOT_FOUND, "%s: no such file", path);
	case EXIT_IS_DIR: return err_set(e, ERR_REMOTE, "%s is a directory", path);
	case EXIT_TOO_BIG: return err_set(e, ERR_IO, "%s is larger than %zu bytes", path, max);
	default: return remote_failure(&r, "reading", path, e);
	}
	sha256_hex(r.out, hex);
	if (!str_eqc(str_trim(r.err), hex))
		return err_set(e, ERR_CONFLICT, "%s changed while it was read", path);
	*out = r.out;
	return 0;
}

int host_get(struct host *h, struct arena *a, const char *path, size_t max, struct str *out,
	     struct err *e)
{
	int rc = -1;

	for (int tries = 0; tries < 3 && rc != 0; tries++) {
		rc = get_once(h, a, path, max, out, e);
		if (rc != 0 && e->kind != ERR_CONFLICT)
			break;
	}
	return rc;
}
