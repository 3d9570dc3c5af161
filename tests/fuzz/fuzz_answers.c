/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever a host answers to a probe of one request of each kind: it is understood or a fault, and
 * the readers of the answers take it as it comes. */
#include "playbooks/facts.h"
#include "playbooks/probe.h"
#include "tests/fuzz/fuzz.h"

static const char path[] = "/etc/motd";

static void ask_all(struct probe *p)
{
	for (int kind = 0; kind < PROBE_KINDS; kind++)
		probe_ask(p, (enum probe_kind)kind,
			  kind == PROBE_SYSCTL	  ? "vm.swappiness"
			  : kind < PROBE_PASSWD	  ? path
			  : kind == PROBE_COMMAND ? "uname -r"
						  : "root");
	probe_path(p, path, PATH_STAT | PATH_LINK | PATH_SHA256 | PATH_CONTENT);
	probe_path(p, path, PATH_STAT | PATH_FOLLOW);
	probe_content_unless(p, path, "00");
}

static void read_all(const struct answers *an)
{
	struct path_info info;
	struct command_answer c;
	struct str text;
	bool large;

	answers_path(an, path, PATH_STAT | PATH_LINK | PATH_SHA256 | PATH_CONTENT, &info);
	answers_path(an, path, PATH_STAT | PATH_FOLLOW, &info);
	(void)answers_content_unless(an, path, "00", &text, &large);
	(void)answers_sysctl(an, "vm.swappiness");
	answers_command(an, "uname -r", &c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new("fuzz");
	struct answers an;
	struct probe p;
	struct err e = { 0 };
	char hex[SHA256_HEX];

	probe_init(&p, a);
	ask_all(&p);
	answers_init(&an, a);
	if (answers_parse(&an, &p, fuzz_text(data, size), &e) == 0) {
		fuzz_must(answers_have(&an, &p), "taken, with answers missing");
		read_all(&an);
		answers_digest(&an, &p, hex);
	} else {
		fuzz_must(e.msg[0], "refused without a word");
	}
	arena_free(a);
	return 0;
}
