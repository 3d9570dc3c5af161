/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are an ssh_config or a fault with a place; the first line as ProxyJump's words is a way
 * or a fault. */
#include "net/net.h"
#include "tests/fuzz/fuzz.h"

static void look_at(const struct ssh_target *t)
{
	int jumps = 0;

	fuzz_must(t->host && t->user && t->port > 0 && t->port < 65536, "half a target");
	for (; t->jump; t = t->jump)
		jumps++;
	fuzz_must(jumps < 100, "no end of jump hosts");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "gpu001.example.org", "10.0.0.1", "a" };
	struct arena *a = arena_new("fuzz");
	struct str text = fuzz_text(data, size), rest = text, line = STR_NONE;
	const char *path = fuzz_file(".conf", text);
	struct err e = { 0 };

	env_set("HOME", "/nonexistent");
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct ssh_target t = { .host = names[i] };

		if (ssh_target_resolve(a, path, &t, &e) == 0)
			look_at(&t);
		else
			fuzz_must(e.msg[0], "refused without a word");
	}
	struct ssh_target t = { .host = "target", .user = "me", .port = 22 };
	str_next_line(&rest, &line);
	if (ssh_jumps_resolve(a, "none", str_cstr(a, line), &t, &e) == 0)
		look_at(&t);
	arena_free(a);
	return 0;
}
