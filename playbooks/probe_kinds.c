/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What costs time on a host is the number of processes, so a kind answers its whole batch with one
 * program where a program can (stat, sha256sum, getent, dpkg-query, systemctl), with none where the
 * shell itself can (links that are none, /proc/sys), and with a few a request only for contents.
 * Everything is read-only and works with coreutils and with busybox.
 */
#include "playbooks/probe_kinds.h"

#include <inttypes.h>

const char probe_functions[] =
	"L() { if [ -h \"$2\" ]; then v=$(readlink -- \"$2\"); printf '%s %s\\n' \"$1\" \"${v%%\"$nl\"*}\"; fi; }\n"
	"R() { v=$(readlink -f -- \"$2\") && printf '%s %s\\n' \"$1\" \"${v%%\"$nl\"*}\"; }\n"
	"A() { v=; [ -r \"$2\" ] && v=r; [ -w \"$2\" ] && v=${v}w; [ -x \"$2\" ] && v=${v}x; "
	"if [ -e \"$2\" ]; then printf '%s %s\\n' \"$1\" \"$v.\"; fi; }\n"
	"C() { [ -f \"$2\" ] && [ -r \"$2\" ] || return 0\n"
	"if [ -n \"$4\" ]; then v=$(sha256sum <\"$2\"); [ \"${v%% *}\" = \"$4\" ] && return 0; fi\n"
	"printf '=%s\\n' \"$1\"; head -c \"$3\" <\"$2\" | base64; echo .; }\n"
	"X() { printf '=%s\\n' \"$1\"; printf '%s\\n%s\\n' \"$2\" \"$3\" | base64; echo .; }\n";

static void add_keys(struct buf *b, struct probe_req *const *reqs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		buf_addc(b, ' ');
		proc_quote(b, reqs[i]->key);
	}
	buf_adds(b, " 2>/dev/null\n");
}

/* FUNCTION INDEX KEY, one line a request */
static void add_calls(struct buf *b, const char *function, struct probe_req *const *reqs, size_t n,
		      size_t base)
{
	for (size_t i = 0; i < n; i++) {
		buf_addf(b, "%s %zu ", function, base + i);
		proc_quote(b, reqs[i]->key);
		buf_addc(b, '\n');
	}
}

#define NAMED_KIND(name, command)                                                       \
	static void emit_##name(struct buf *b, struct probe_req *const *reqs, size_t n, \
				size_t base unused_arg)                                 \
	{                                                                               \
		buf_adds(b, command);                                                   \
		add_keys(b, reqs, n);                                                   \
	}

NAMED_KIND(stat, "stat -c '%f %u %g %s %U %G %n' --")
NAMED_KIND(statl, "stat -L -c '%f %u %g %s %U %G %n' --")
NAMED_KIND(times, "stat -c '%X %Y %Z %i %h %d %b %n' --")
NAMED_KIND(timesl, "stat -L -c '%X %Y %Z %i %h %d %b %n' --")
NAMED_KIND(sha256, "sha256sum --")
NAMED_KIND(sha1, "sha1sum --")
NAMED_KIND(passwd, "getent passwd --")
NAMED_KIND(group, "getent group --")
NAMED_KIND(groups, "groups --")
NAMED_KIND(shadow, "getent shadow --")
NAMED_KIND(package,
	   "dpkg-query -W -f '${binary:Package}\\t${Architecture}\\t${Status}\\t${Version}\\n' --")

static void emit_link(struct buf *b, struct probe_req *const *reqs, size_t n, size_t base)
{
	add_calls(b, "L", reqs, n, base);
}

static void emit_real(struct buf *b, struct probe_req *const *reqs, size_t n, size_t base)
{
	add_calls(b, "R", reqs, n, base);
}

static void emit_access(struct buf *b, struct probe_req *const *reqs, size_t n, size_t base)
{
	add_calls(b, "A", reqs, n, base);
}

static void emit_content(struct buf *b, struct probe_req *const *reqs, size_t n, size_t base)
{
	for (size_t i = 0; i < n; i++) {
		buf_addf(b, "C %zu ", base + i);
		proc_quote(b, reqs[i]->key);
		/* One byte more than wanted shows that there is more. */
		buf_addf(b, " %" PRIu64 " ", reqs[i]->number + 1);
		proc_quote(b, reqs[i]->extra);
		buf_addc(b, '\n');
	}
}

/* In a key a slash stands for a dot of a name: net.ipv4.conf.eth0/1.x. The other way round in a
 * path. */
static void add_swapped(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		buf_addc(b, s.p[i] == '.' ? '/' : s.p[i] == '/' ? '.' : s.p[i]);
}

#define PROC_SYS "/proc/sys/"

/* Not the shell's read: it takes byte by byte, and the kernel gives a value in the first read only.
 */
static void emit_sysctl(struct buf *b, struct probe_req *const *reqs, size_t n,
			size_t base unused_arg)
{
	struct buf path scoped(buf_fini) = { 0 };

	buf_init(&path, 4096);
	buf_adds(b, "grep -H '' --");
	for (size_t i = 0; i < n; i++) {
		buf_clear(&path);
		buf_adds(&path, PROC_SYS);
		add_swapped(&path, reqs[i]->key);
		buf_addc(b, ' ');
		proc_quote(b, buf_str(&path));
	}
	buf_adds(b, " 2>/dev/null\n");
}

/* "/proc/sys/net/ipv4/ip_forward:1" */
static void keys_sysctl(struct arena *a, struct str line, struct str *key,
			struct str *also unused_arg)
{
	struct buf b scoped(buf_fini) = { 0 };

	buf_init(&b, 4096);
	if (str_starts(line, PROC_SYS))
		add_swapped(&b, str_sub(line, strlen(PROC_SYS), str_find_char(line, ':')));
	*key = str_dup(a, buf_str(&b));
}

/* systemctl writes a paragraph a unit, in the order asked for. */
static void emit_unit(struct buf *b, struct probe_req *const *reqs, size_t n, size_t base)
{
	buf_addf(b, "i=%zu; l=\n", base);
	buf_adds(b,
		 "systemctl show -p Id -p LoadState -p ActiveState -p SubState -p UnitFileState -p "
		 "NeedDaemonReload -p Type --");
	for (size_t i = 0; i < n; i++) {
		buf_addc(b, ' ');
		proc_quote(b, reqs[i]->key);
	}
	buf_adds(b, " 2>/dev/null | {\n"
		    "while IFS= read -r v; do case $v in\n"
		    "'') printf '%s %s\\n' $i \"$l\"; i=$((i+1)); l= ;;\n"
		    "*) l=\"$l$v|\" ;;\n"
		    "esac; done\n"
		    "[ -z \"$l\" ] || printf '%s %s\\n' $i \"$l\"; }\n");
}

static void emit_command(struct buf *b, struct probe_req *const *reqs, size_t n, size_t base)
{
	for (size_t i = 0; i < n; i++) {
		buf_adds(b, "o=$(sh -c ");
		proc_quote(b, reqs[i]->key);
		buf_addf(b, " 2>/dev/null </dev/null); X %zu $? \"$o\"\n", base + i);
	}
}

/* The key is what follows the n-th blank. */
static void after_blanks(struct str line, int n, struct str *key)
{
	for (; n; n--) {
		size_t at = str_find_char(line, ' ');
		line = str_sub(line, at == SIZE_MAX ? line.n : at + 1, SIZE_MAX);
	}
	*key = line;
}

static void keys_stat(struct arena *a unused_arg, struct str line, struct str *key,
		      struct str *also unused_arg)
{
	after_blanks(line, 6, key);
}

static void keys_times(struct arena *a unused_arg, struct str line, struct str *key,
		       struct str *also unused_arg)
{
	after_blanks(line, 7, key);
}

/* "DIGEST  name"; a leading backslash says that the name's backslashes are doubled. */
static void keys_digest(struct arena *a, struct str line, struct str *key,
			struct str *also unused_arg)
{
	struct buf b;

	after_blanks(line, 2, key);
	if (!str_starts(line, "\\"))
		return;
	buf_init(&b, 8192);
	for (size_t i = 0; i < key->n; i++) {
		if (key->p[i] == '\\' && i + 1 < key->n)
			i++;
		buf_addc(&b, key->p[i]);
	}
	*key = str_dup(a, buf_str(&b));
	buf_fini(&b);
}

/* "NAME : GROUP..." */
static void keys_groups(struct arena *a unused_arg, struct str line, struct str *key,
			struct str *also unused_arg)
{
	size_t at = str_find(line, STR(" : "));

	*key = str_sub(line, 0, at == SIZE_MAX ? line.n : at);
}

static void keys_colon(struct arena *a unused_arg, struct str line, struct str *key,
		       struct str *also unused_arg)
{
	size_t at = str_find_char(line, ':');

	*key = str_sub(line, 0, at == SIZE_MAX ? line.n : at);
}

/* "libc6:amd64\tamd64\t..." or "bash\tamd64\t...": asked for with or without the architecture. */
static void keys_package(struct arena *a, struct str line, struct str *key, struct str *also)
{
	struct str rest = line, arch = STR_NONE;
	size_t colon;

	str_next(&rest, '\t', key);
	str_next(&rest, '\t', &arch);
	colon = str_find_char(*key, ':');
	if (colon != SIZE_MAX)
		*also = str_sub(*key, 0, colon);
	else
		*also = str_of(arena_printf(a, STR_FMT ":" STR_FMT, STR_ARG(*key), STR_ARG(arch)));
}

const struct probe_kind_row probe_kinds[PROBE_KINDS] = {
	[PROBE_STAT] = { "stat", SHAPE_NAMED, emit_stat, keys_stat },
	[PROBE_STATL] = { "statl", SHAPE_NAMED, emit_statl, keys_stat },
	[PROBE_LINK] = { "link", SHAPE_LINES, emit_link, NULL },
	[PROBE_REAL] = { "real", SHAPE_LINES, emit_real, NULL },
	[PROBE_SHA256] = { "sha256", SHAPE_NAMED, emit_sha256, keys_digest },
	[PROBE_SHA1] = { "sha1", SHAPE_NAMED, emit_sha1, keys_digest },
	[PROBE_CONTENT] = { "content", SHAPE_BLOCKS, emit_content, NULL },
	[PROBE_TIMES] = { "times", SHAPE_NAMED, emit_times, keys_times },
	[PROBE_TIMESL] = { "timesl", SHAPE_NAMED, emit_timesl, keys_times },
	[PROBE_ACCESS] = { "access", SHAPE_LINES, emit_access, NULL },
	[PROBE_PASSWD] = { "passwd", SHAPE_NAMED, emit_passwd, keys_colon },
	[PROBE_GROUP] = { "group", SHAPE_NAMED, emit_group, keys_colon },
	[PROBE_GROUPS] = { "groups", SHAPE_NAMED, emit_groups, keys_groups },
	[PROBE_SHADOW] = { "shadow", SHAPE_NAMED, emit_shadow, keys_colon },
	[PROBE_PACKAGE] = { "package", SHAPE_NAMED, emit_package, keys_package },
	[PROBE_UNIT] = { "unit", SHAPE_LINES, emit_unit, NULL },
	[PROBE_SYSCTL] = { "sysctl", SHAPE_NAMED, emit_sysctl, keys_sysctl },
	[PROBE_COMMAND] = { "command", SHAPE_BLOCKS, emit_command, NULL },
};
