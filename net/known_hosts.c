/* SPDX-License-Identifier: Apache-2.0 */
#include "net/known_hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "net/pattern.h"
#include "net/wire.h"

#define FILE_MAX     ((size_t)16 << 20)
#define NAME_MAX_LEN 300

void key_fingerprint(struct str blob, char out[FINGERPRINT_LEN])
{
	unsigned char digest[32];
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, 128);
	EVP_Digest(blob.p, blob.n, digest, NULL, EVP_sha256(), NULL);
	base64_encode(&b, (struct str){ (const char *)digest, sizeof digest });
	struct str text = str_trim_end(buf_str(&b), '=');
	snprintf(out, FINGERPRINT_LEN, "SHA256:" STR_FMT, STR_ARG(text));
}

/* ---- reading ---------------------------------------------------------------------------------- */

static struct str next_word(struct str *rest)
{
	struct str s = str_trim(*rest);
	size_t n = 0;

	while (n < s.n && s.p[n] != ' ' && s.p[n] != '\t')
		n++;
	*rest = str_sub(s, n, SIZE_MAX);
	return str_sub(s, 0, n);
}

static bool decode_key(struct arena *a, struct str type, struct str base64, struct str *blob)
{
	scoped(buf_fini) struct buf b = { 0 };
	struct err ignored;

	buf_init(&b, 64 << 10);
	if (type.n == 0 || base64.n == 0 || base64_decode(&b, base64, &ignored) != 0 || b.overflow)
		return false;
	*blob = str_dup(a, buf_str(&b));
	return str_eq(wire_key_type(*blob), type);
}

static bool parse_marker(struct str word, enum known_marker *marker)
{
	if (str_eqc(word, "@cert-authority"))
		*marker = KNOWN_CA;
	else if (str_eqc(word, "@revoked"))
		*marker = KNOWN_REVOKE;
	else
		return false;
	return true;
}

static bool parse_line(struct arena *a, struct str line, struct known_entry *out)
{
	struct str word = next_word(&line);

	*out = (struct known_entry){ .marker = KNOWN_PLAIN };
	if (word.n && word.p[0] == '@') {
		if (!parse_marker(word, &out->marker))
			return false;
		word = next_word(&line);
	}
	struct str type = next_word(&line);
	if (!decode_key(a, type, next_word(&line), &out->blob))
		return false;
	out->hosts = str_dup(a, word);
	out->type = str_dup(a, type);
	return true;
}

void known_hosts_parse(struct arena *a, const char *file, struct str text, struct known_hosts *kh)
{
	struct known_entry entry;
	struct str line;

	for (int n = 1; str_next_line(&text, &line); n++) {
		line = str_trim(line);
		if (line.n == 0 || line.p[0] == '#')
			continue;
		if (!parse_line(a, line, &entry)) {
			log_info("%s:%d: not a known_hosts line, ignored", file, n);
			continue;
		}
		entry.pos = (struct pos){ file, n, 1 };
		VEC_ADD(a, &kh->entries) = entry;
	}
}

int known_hosts_load(struct arena *a, const char *path, struct known_hosts *kh, struct err *e)
{
	struct str text;
	struct err why;

	if (fs_read(a, path, FILE_MAX, &text, &why) != 0) {
		if (why.kind == ERR_NOT_FOUND)
			return 0;
		*e = why;
		return -1;
	}
	known_hosts_parse(a, arena_strdup(a, path), text, kh);
	return 0;
}

int known_hosts_revoke(struct arena *a, const char *path, struct known_hosts *kh, struct err *e)
{
	struct known_entry entry = { .marker = KNOWN_REVOKE, .hosts = STR("*") };
	struct str text, line;

	if (fs_read(a, path, FILE_MAX, &text, e) != 0) {
		e->kind = ERR_AUTH;
		return err_hint(e, "put the file back, or take RevokedHostKeys out of ssh_config");
	}
	for (int n = 1; str_next_line(&text, &line); n++) {
		line = str_trim(line);
		if (line.n == 0 || line.p[0] == '#')
			continue;
		entry.type = str_dup(a, next_word(&line));
		if (!decode_key(a, entry.type, next_word(&line), &entry.blob)) {
			err_set(e, ERR_AUTH, "%s:%d: not a public key, so nobody is trusted", path,
				n);
			return err_hint(e, "write the revoked host keys one a line, as in "
					   "ssh_host_ed25519_key.pub; a binary KRL is not read");
		}
		entry.pos = (struct pos){ arena_strdup(a, path), n, 1 };
		VEC_ADD(a, &kh->entries) = entry;
	}
	return 0;
}

int known_hosts_pin(struct arena *a, const char *line, struct known_hosts *kh, struct err *e)
{
	struct known_entry entry = { .hosts = STR("*"), .pos = { "pinned host key", 0, 0 } };
	struct str rest = str_of(line);
	struct str type = next_word(&rest);

	if (!decode_key(a, type, next_word(&rest), &entry.blob)) {
		err_set(e, ERR_SPEC, "not a public host key: \"%.60s\"", line);
		return err_hint(
			e, "write it as in /etc/ssh/ssh_host_ed25519_key.pub: type and base64");
	}
	entry.type = str_dup(a, type);
	VEC_ADD(a, &kh->entries) = entry;
	return 0;
}

/* ---- matching --------------------------------------------------------------------------------- */

static void looked_up_name(const char *name, int port, char *out, size_t cap)
{
	if (port == 0 || port == 22)
		snprintf(out, cap, "%s", name);
	else
		snprintf(out, cap, "[%s]:%d", name, port);
	for (char *p = out; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
}

static bool hashed_match(struct str hosts, const char *name)
{
	scoped(buf_fini) struct buf salt = { 0 };
	scoped(buf_fini) struct buf want = { 0 };
	struct str rest = str_sub(hosts, 3, SIZE_MAX), part; /* after |1| */
	uint8_t got[20];
	struct err ignored;

	buf_init(&salt, 256);
	buf_init(&want, 256);
	if (!str_next(&rest, '|', &part) || base64_decode(&salt, part, &ignored) != 0 ||
	    base64_decode(&want, rest, &ignored) != 0 || want.n != sizeof got)
		return false;
	hmac_sha1(buf_str(&salt), str_of(name), got);
	return memcmp(got, want.p, sizeof got) == 0;
}

static bool entry_matches(const struct known_entry *k, const char *name)
{
	if (str_starts(k->hosts, "|1|"))
		return hashed_match(k->hosts, name);
	return pattern_list_match(k->hosts, ',', str_of(name)) == PATTERN_YES;
}

static enum known_verdict check_name(const struct known_hosts *kh, const char *name,
				     struct str blob, const struct known_entry **which)
{
	enum known_verdict v = KNOWN_UNKNOWN;
	struct str type = wire_key_type(blob);

	for (size_t i = 0; i < kh->entries.n; i++) {
		const struct known_entry *k = &kh->entries.v[i];
		bool same = str_eq(k->blob, blob);

		if ((k->marker == KNOWN_REVOKE && !same) || !entry_matches(k, name))
			continue;
		if (k->marker == KNOWN_REVOKE) {
			*which = k;
			return KNOWN_REVOKED;
		}
		if (k->marker == KNOWN_CA) {
			if (v == KNOWN_UNKNOWN) {
				v = KNOWN_CA_ONLY;
				*which = k;
			}
		} else if (same) {
			v = KNOWN_OK;
			*which = k;
		} else if (v != KNOWN_OK && (v != KNOWN_CHANGED || (!str_eq((*which)->type, type) &&
								    str_eq(k->type, type)))) {
			v = KNOWN_CHANGED; /* of several, name the one with the same type */
			*which = k;
		}
	}
	return v;
}

enum known_verdict known_hosts_check(const struct known_hosts *kh, const char *name, int port,
				     struct str blob, const struct known_entry **which)
{
	char full[NAME_MAX_LEN], plain[NAME_MAX_LEN];
	const struct known_entry *entry = NULL, *other = NULL;

	looked_up_name(name, port, full, sizeof full);
	looked_up_name(name, 0, plain, sizeof plain);
	enum known_verdict v = check_name(kh, full, blob, &entry);
	/* As OpenSSH: a key that is known for the host vouches for its other ports; a revoked one
	 * never. */
	if (strcmp(full, plain) != 0) {
		enum known_verdict p = check_name(kh, plain, blob, &other);

		if (p == KNOWN_REVOKED || (p == KNOWN_OK && v == KNOWN_UNKNOWN)) {
			v = p;
			entry = other;
		}
	}
	if (which)
		*which = entry;
	return v;
}

bool known_hosts_has_type(const struct known_hosts *kh, const char *name, int port,
			  const char *type)
{
	char full[NAME_MAX_LEN], plain[NAME_MAX_LEN];

	looked_up_name(name, port, full, sizeof full);
	looked_up_name(name, 0, plain, sizeof plain);
	for (size_t i = 0; i < kh->entries.n; i++) {
		const struct known_entry *k = &kh->entries.v[i];

		if (k->marker == KNOWN_PLAIN && str_eqc(k->type, type) &&
		    (entry_matches(k, full) || entry_matches(k, plain)))
			return true;
	}
	return false;
}

/* ---- writing ---------------------------------------------------------------------------------- */

static void add_hashed_name(struct buf *b, const char *name)
{
	char salt[20];
	uint8_t digest[20];

	rand_bytes(salt, sizeof salt);
	hmac_sha1((struct str){ salt, sizeof salt }, str_of(name), digest);
	buf_adds(b, "|1|");
	base64_encode(b, (struct str){ salt, sizeof salt });
	buf_addc(b, '|');
	base64_encode(b, (struct str){ (const char *)digest, sizeof digest });
}

static int make_folder(const char *path, struct err *e)
{
	struct arena *a = arena_new("known_hosts");
	int rc = fs_mkdirs(fs_dirname(a, path), 0700, e);

	arena_free(a);
	return rc;
}

int known_hosts_append(const char *path, const struct known_new *k, struct err *e)
{
	scoped(buf_fini) struct buf b = { 0 };
	char name[NAME_MAX_LEN];

	if (make_folder(path, e) != 0)
		return -1;
	buf_init(&b, 64 << 10);
	looked_up_name(k->name, k->port, name, sizeof name);
	if (k->hashed)
		add_hashed_name(&b, name);
	else
		buf_adds(&b, name);
	buf_addf(&b, " " STR_FMT " ", STR_ARG(wire_key_type(k->blob)));
	base64_encode(&b, k->blob);
	buf_addc(&b, '\n');
	scoped(close_fd) int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(e, "%s", path);
	if (flock(fd, LOCK_EX) != 0) /* held for one write: no wait worth a task */
		return err_sys(e, "%s", path);
	off_t end = lseek(fd, 0, SEEK_END);
	char last = '\n';
	if (end > 0 && pread(fd, &last, 1, end - 1) == 1 && last != '\n' && write(fd, "\n", 1) != 1)
		return err_sys(e, "%s", path);
	if (write(fd, b.p, b.n) != (ssize_t)b.n)
		return err_sys(e, "%s", path);
	return 0;
}
