/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get_url: a file from an address, fetched by the host with curl, wget or python3.
 *
 * With a checksum the file's digest decides; without one a file that is there is good enough,
 * unless force asks to look: then the host fetches, compares and says whether it wrote (finish).
 */
#include <inttypes.h>

#include "playbooks/list.h"

struct get_want {
	const char *path;
	struct attrs at;
	struct path_info now;
	const char *tool, *digest; /* of the checksum: "sha256sum", hex; NULL: none */
	bool fetch, compare;
};

static const struct module_arg get_url_args[] = {
	{ "url", ARG_STR, ARG_REQUIRED, NULL, NULL, NULL, "the address" },
	{ "dest", ARG_PATH, ARG_REQUIRED, NULL, NULL, NULL, "the file, or a directory for it" },
	{ "checksum", ARG_STR, 0, "", NULL, NULL, "sha256:HEX, sha512:HEX, sha1:HEX or md5:HEX" },
	{ "sha256sum", ARG_STR, 0, "", NULL, NULL, "older form of checksum" },
	{ "force", ARG_BOOL, 0, "no", NULL, "thirsty", "fetch it even if it is there" },
	{ "backup", ARG_BOOL, 0, "no", NULL, NULL, "keep a copy of the old file beside it" },
	{ "headers", ARG_DICT, 0, NULL, NULL, NULL, "headers of the request" },
	{ "url_username", ARG_STR, 0, NULL, NULL, "username", "user of basic authentication" },
	{ "url_password", ARG_STR, ARG_SECRET, NULL, NULL, "password", "its password" },
	{ "force_basic_auth", ARG_BOOL, ARG_IGNORED, NULL, NULL, NULL, "it is always sent" },
	{ "timeout", ARG_INT, 0, "10", NULL, NULL, "seconds to connect" },
	{ "validate_certs", ARG_BOOL, 0, "yes", NULL, NULL, "check the server's certificate" },
	{ "use_proxy", ARG_BOOL, 0, "yes", NULL, NULL, "obey the proxy variables" },
	{ "http_agent", ARG_STR, ARG_IGNORED, NULL, NULL, NULL, "curl's or wget's own" },
	{ "tmp_dest", ARG_PATH, ARG_IGNORED, NULL, NULL, NULL,
	  "beside the file, so that the rename is atomic" },
	{ "client_cert", ARG_PATH, ARG_NOT_YET, NULL, NULL, NULL, "certificate of the client" },
	{ "client_key", ARG_PATH, ARG_NOT_YET, NULL, NULL, NULL, "its key" },
	{ "ciphers", ARG_LIST, ARG_IGNORED, NULL, NULL, NULL, "the library's own" },
	{ "decompress", ARG_BOOL, ARG_IGNORED, NULL, NULL, NULL, "content is stored as it comes" },
	{ "unredirected_headers", ARG_LIST, ARG_IGNORED, NULL, NULL, NULL, "curl decides" },
	{ "use_gssapi", ARG_BOOL, ARG_NOT_YET, NULL, NULL, NULL, "Kerberos" },
	{ "use_netrc", ARG_BOOL, ARG_IGNORED, NULL, NULL, NULL, "never" },
	ARG_FILE_ATTRS,
	ARG_END,
};

/* ---- the checksum ---- */

static bool is_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f') ||
		      (s.p[i] >= 'A' && s.p[i] <= 'F')))
			return false;
	return s.n > 0;
}

static const char *lower(struct arena *a, struct str s)
{
	char *out = arena_dup(a, s.p, s.n);

	for (char *p = out; *p; p++)
		if (*p >= 'A' && *p <= 'F')
			*p = (char)(*p - 'A' + 'a');
	return out;
}

static int read_checksum(const struct mod_call *c, struct get_want *w, struct err *e)
{
	static const struct {
		const char *name, *tool;
		size_t digits;
	} kinds[] = {
		{ "sha256", "sha256sum", 64 }, { "sha512", "sha512sum", 128 },
		{ "sha384", "sha384sum", 96 }, { "sha224", "sha224sum", 56 },
		{ "sha1", "sha1sum", 40 },     { "md5", "md5sum", 32 },
	};
	struct str s = arg_str(c->args, "checksum"), kind;

	if (!s.n && arg_str(c->args, "sha256sum").n)
		s = str_of(arena_printf(c->a, "sha256:" STR_FMT,
					STR_ARG(arg_str(c->args, "sha256sum"))));
	if (!s.n)
		return 0;
	str_next(&s, ':', &kind);
	s = str_trim(s);
	if (str_find(s, STR("://")) != SIZE_MAX) {
		err_set(e, ERR_SPEC, "checksum at an address is not supported yet");
		err_hint(e, "write the digest itself: sha256:HEX");
		return err_at(e, c->pos);
	}
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (str_eqc(kind, kinds[i].name) && is_hex(s) && s.n == kinds[i].digits) {
			w->tool = kinds[i].tool;
			w->digest = lower(c->a, s);
			return 0;
		}
	return err_at(e, (err_set(e, ERR_SPEC,
				  "checksum must be sha256:HEX, sha512:HEX, sha1:HEX or md5:HEX"),
			  c->pos));
}

/* ---- where to ---- */

static const char *file_name(const struct mod_call *c)
{
	struct str url = arg_str(c->args, "url"), part = STR_NONE, last = STR_NONE;
	size_t at = str_find(url, STR("://"));

	url = str_sub(url, at == SIZE_MAX ? 0 : at + 3, SIZE_MAX);
	at = str_find_char(url, '?');
	url = str_sub(url, 0, at);
	url = str_sub(url, 0, str_find_char(url, '#'));
	str_next(&url, '/', &part);
	while (str_next(&url, '/', &part))
		last = part;
	return last.n ? str_cstr(c->a, last) : "index.html";
}

static const char *inside(const struct mod_call *c)
{
	return fs_join(c->a, arg_cstr(c->args, "dest"), file_name(c));
}

static const char *digest_question(const struct mod_call *c, const struct get_want *w,
				   const char *path)
{
	struct buf b scoped(buf_fini) = { 0 };

	buf_init(&b, 64 << 10);
	buf_addf(&b, "%s <", w->tool);
	proc_quote(&b, str_of(path));
	return buf_dup(&b, c->a);
}

static int get_url_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	struct get_want w = { 0 };
	struct str url = arg_str(c->args, "url");
	const char *dest = arg_cstr(c->args, "dest");

	if (!str_starts(url, "http://") && !str_starts(url, "https://") &&
	    !str_starts(url, "ftp://") && !str_starts(url, "file://"))
		return err_at(e,
			      (err_set(e, ERR_SPEC, "url must begin with http, https, ftp or file"),
			       c->pos));
	if (str_find_char(url, '\n') != SIZE_MAX || str_find_char(url, ' ') != SIZE_MAX)
		return err_at(e, (err_set(e, ERR_SPEC, "url has a blank or line break"), c->pos));
	if (read_checksum(c, &w, e))
		return -1;
	probe_path(p, dest, PATH_FOLLOW);
	probe_path(p, inside(c), PATH_FOLLOW);
	if (!w.tool)
		return 0;
	probe_ask(p, PROBE_COMMAND, digest_question(c, &w, dest));
	probe_ask(p, PROBE_COMMAND, digest_question(c, &w, inside(c)));
	return 0;
}

static bool digest_fits(const struct mod_call *c, const struct answers *an,
			const struct get_want *w)
{
	struct command_answer r;

	answers_command(an, digest_question(c, w, w->path), &r);
	return r.status == 0 && str_starts(r.out, w->digest);
}

/* The address may hold a token, so it keeps its mark. */
static void change_fetched(const struct mod_call *c, struct changes *ch, const char *path,
			   bool existed)
{
	change_add(ch, arena_printf(ch->a, "file %s: content", path),
		   existed ? value_cstr(ch->a, "(other content)") : NULL,
		   value_get(c->args, "url"));
}

static int get_url_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
			 struct err *e)
{
	struct get_want *w = arena_obj(ch->a, struct get_want);

	ch->want = w;
	if (read_checksum(c, w, e))
		return -1;
	w->path = arg_cstr(c->args, "dest");
	answers_path(an, w->path, PATH_FOLLOW, &w->now);
	if (w->now.type == PATH_DIR || str_ends(str_of(w->path), "/")) {
		w->path = inside(c);
		answers_path(an, w->path, PATH_FOLLOW, &w->now);
	}
	if (w->now.type == PATH_DIR)
		return change_fail(ch, "%s is a directory", w->path);
	if (w->now.type == PATH_NONE || (w->digest && !digest_fits(c, an, w)))
		w->fetch = true;
	else if (!w->digest && arg_bool(c->args, "force"))
		w->fetch = w->compare = true;
	w->at = (struct attrs){ .path = w->path, .fresh_mode = 0644 };
	if (w->fetch && !w->compare)
		change_fetched(c, ch, w->path, w->now.type != PATH_NONE);
	if (attrs_check(c, &w->now, &w->at, ch, e))
		return -1;
	ch->run = w->compare && !c->check;
	result_set(ch, "url", value_get(c->args, "url"));
	result_sets(ch, "dest", w->path);
	result_sets(ch, "state", "file");
	result_sets(ch, "msg", w->fetch ? "OK" : "file already exists");
	attrs_result(ch, &w->at, &w->now);
	return 0;
}

/* ---- the patch ---- */

/* In curl's configuration: within double quotes. */
static void add_quoted(struct buf *b, const char *s)
{
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_addc(b, '\\');
		if (*s != '\n' && *s != '\r')
			buf_addc(b, *s);
	}
}

/* Address, passwords and headers go to curl's stdin, not into its arguments. */
static void add_curl(const struct mod_call *c, struct patch *p)
{
	const struct value *headers = value_get(c->args, "headers");
	struct buf conf scoped(buf_wipe) = { 0 }, text scoped(buf_wipe) = { 0 };

	buf_init(&conf, 1 << 20);
	buf_init(&text, 1 << 20);
	buf_adds(&conf, "globoff\nurl = \"");
	add_quoted(&conf, arg_cstr(c->args, "url"));
	buf_addf(&conf, "\"\nconnect-timeout = %" PRId64 "\n", arg_int(c->args, "timeout", 10));
	if (!arg_bool(c->args, "validate_certs"))
		buf_adds(&conf, "insecure\n");
	if (!arg_bool(c->args, "use_proxy"))
		buf_adds(&conf, "noproxy = \"*\"\n");
	if (arg_has(c->args, "url_username")) {
		buf_adds(&conf, "user = \"");
		add_quoted(&conf, arg_cstr(c->args, "url_username"));
		buf_addc(&conf, ':');
		if (arg_has(c->args, "url_password"))
			add_quoted(&conf, arg_cstr(c->args, "url_password"));
		buf_adds(&conf, "\"\n");
	}
	for (size_t i = 0; headers && i < headers->map.n; i++) {
		buf_clear(&text);
		value_reveal(&text, headers->map.e[i].val);
		buf_adds(&conf, "header = \"");
		add_quoted(&conf, headers->map.e[i].key.p);
		buf_adds(&conf, ": ");
		add_quoted(&conf, text.p);
		buf_adds(&conf, "\"\n");
	}
	patch_raw(p, "printf %s ");
	proc_quote(&p->text, buf_str(&conf));
	patch_raw(p, " | curl -q -K - -f -sS -L -o \"$t\"\n");
}

static bool needs_curl(const struct mod_call *c)
{
	return arg_has(c->args, "headers") || arg_has(c->args, "url_username") ||
	       !arg_bool(c->args, "validate_certs") || !arg_bool(c->args, "use_proxy") ||
	       value_get(c->args, "url")->secret || str_starts(arg_str(c->args, "url"), "file:");
}

static void patch_fetch(const struct mod_call *c, struct patch *p, const struct get_want *w)
{
	patch_raw(p, "f=");
	proc_quote(&p->text, str_of(w->path));
	patch_raw(p, "; u=");
	proc_quote(&p->text, arg_str(c->args, "url"));
	patch_raw(p,
		  "\nd=${f%/*}; [ -n \"$d\" ] || d=/\n"
		  "[ -d \"$d\" ] || { printf 'Destination %s does not exist\\n' \"$d\"; exit 1; }\n"
		  "t=$(mktemp \"$d/.muster.XXXXXX\")\n"
		  "trap 'rm -f -- \"$t\"' EXIT\n"
		  "if command -v curl >/dev/null; then\n");
	add_curl(c, p);
	if (needs_curl(c))
		patch_raw(p,
			  "else echo 'curl is needed on the host for this request'; exit 1; fi\n");
	else
		buf_addf(
			&p->text,
			"elif command -v wget >/dev/null; then wget -q -T %" PRId64
			" -O \"$t\" -- \"$u\"\n"
			"elif command -v python3 >/dev/null; then python3 -c 'import sys,shutil,urllib.request as r;"
			"shutil.copyfileobj(r.urlopen(sys.argv[1],timeout=%" PRId64
			"),open(sys.argv[2],\"wb\"))' \"$u\" \"$t\"\n"
			"else echo 'the host has none of curl, wget and python3'; exit 1; fi\n",
			arg_int(c->args, "timeout", 10), arg_int(c->args, "timeout", 10));
	if (w->digest) {
		buf_addf(&p->text, "s=$(%s <\"$t\"); s=${s%%%% *}\n", w->tool);
		buf_addf(
			&p->text,
			"[ \"$s\" = %s ] || { printf 'The checksum for %%s did not match %s; it was %%s.\\n' \"$f\" \"$s\"; exit 1; }\n",
			w->digest, w->digest);
	}
}

static void patch_place(const struct mod_call *c, struct patch *p)
{
	patch_raw(p, "if [ -f \"$f\" ] && cmp -s -- \"$t\" \"$f\"; then :; else\n");
	if (arg_bool(c->args, "backup"))
		patch_raw(
			p,
			"[ ! -f \"$f\" ] || cp -p -- \"$f\" \"$f.$$.$(date +%Y-%m-%d@%H:%M:%S~)\"\n");
	patch_raw(p,
		  "if [ -f \"$f\" ]; then chown -h -- \"$(stat -L -c %u:%g -- \"$f\")\" \"$t\"; "
		  "chmod -- \"$(stat -L -c %a -- \"$f\")\" \"$t\"; else chmod -- 0644 \"$t\"; fi\n"
		  "[ ! -h \"$f\" ] || f=$(readlink -f -- \"$f\")\n"
		  "mv -f -- \"$t\" \"$f\"; echo written\nfi\n"
		  "rm -f -- \"$t\"\ntrap - EXIT\n");
}

static int get_url_patch(const struct mod_call *c, const struct changes *ch, struct patch *p,
			 struct err *e unused_arg)
{
	const struct get_want *w = ch->want;

	if (w->fetch) {
		patch_fetch(c, p, w);
		patch_place(c, p);
	}
	attrs_patch(p, &w->at, w->path, false);
	return 0;
}

static int get_url_finish(const struct mod_call *c, const struct script_result *r,
			  struct changes *ch, struct err *e unused_arg)
{
	const struct get_want *w = ch->want;
	struct str line, out = r->out;

	while (w->compare && r->status == 0 && str_next_line(&out, &line))
		if (str_eqc(line, "written"))
			change_fetched(c, ch, w->path, true);
	return change_finish(ch, r);
}

const struct module module_get_url = {
	.name = "get_url",
	.doc = "a file from an address, fetched by the host",
	.args = get_url_args,
	.probe = get_url_probe,
	.check = get_url_check,
	.patch = get_url_patch,
	.finish = get_url_finish,
};
