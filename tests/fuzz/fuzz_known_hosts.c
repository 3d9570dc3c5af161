/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are known hosts. A file that is kept with its names indexed gives the same verdicts as
 * its lines read one after the other. */
#include "net/known_hosts.h"
#include "tests/fuzz/fuzz.h"

struct both {
	struct known_hosts lines, kept;
};

static void compare(const struct both *b, const char *name, int port, struct str blob)
{
	enum known_verdict x = known_hosts_check(&b->lines, name, port, blob, NULL);
	enum known_verdict y = known_hosts_check(&b->kept, name, port, blob, NULL);

	fuzz_must(x == y, "the index gives another verdict");
	fuzz_must(known_hosts_has_type(&b->lines, name, port, "ssh-ed25519") ==
			  known_hosts_has_type(&b->kept, name, port, "ssh-ed25519"),
		  "the index knows another type");
}

/* The first of an entry's names, as itself and as the one of "[name]:port". */
static void compare_own_name(struct arena *a, const struct both *b, const struct known_entry *k)
{
	struct str rest = k->hosts, name = STR_NONE;
	int64_t port = 0;

	str_next(&rest, ',', &name);
	compare(b, str_cstr(a, name), 22, k->blob);
	size_t close = str_find(name, STR("]:"));
	if (name.n && name.p[0] == '[' && close != SIZE_MAX &&
	    str_to_int(str_sub(name, close + 2, SIZE_MAX), &port) && port > 0 && port < 65536)
		compare(b, str_cstr(a, str_sub(name, 1, close)), (int)port, k->blob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new("fuzz");
	struct str text = fuzz_text(data, size);
	const char *path = fuzz_file(".known", text);
	struct both b = { 0 };
	struct known_hosts revoked = { 0 };
	struct err e;

	known_hosts_parse(a, "f", text, &b.lines);
	fuzz_must(known_hosts_load(a, path, &b.kept, &e) == 0, "a file that cannot be read");
	known_hosts_forget(); /* the next input may have the same size and time */
	fuzz_must(b.lines.entries.n == known_hosts_count(&b.kept), "lines are lost");
	compare(&b, "gpu001", 22, STR("blob"));
	for (size_t i = 0; i < b.lines.entries.n && i < 32; i++)
		compare_own_name(a, &b, &b.lines.entries.v[i]);
	(void)!known_hosts_revoke(a, path, &revoked, &e);
	(void)!known_hosts_pin(a, str_cstr(a, text), &revoked, &e);
	arena_free(a);
	return 0;
}
