/* SPDX-License-Identifier: Apache-2.0 */
/* Saved plans: what comes back is what was saved, and nothing else is taken. */
#include "bed.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define WEB "  web: {provider: cloud, count: 2, image: debian-12, machine: small}\n"

static struct str saved; /* of the test under way */
static const char *saved_path;

static struct plan *save(struct bed *b)
{
	struct plan *p = bed_plan(b, PLAN_APPLY);
	struct err e = { 0 };

	saved_path = fs_join(b->a, b->dir, "p");
	must(plan_save(b->en, p, saved_path, &e) == 0, "%s", e.msg);
	must(fs_read(b->a, saved_path, 1 << 20, &saved, &e) == 0);
	return p;
}

static void put(struct str text)
{
	FILE *f = fopen(saved_path, "w"); /* no fsync: this is done thousands of times */

	must(f && fwrite(text.p, 1, text.n, f) == text.n && fclose(f) == 0);
}

/* Refused, for that reason; NULL: for any. */
static void refused(struct bed *b, const char *why)
{
	scoped(arena_freep) struct arena *a = arena_new("refused");
	struct plan *back = NULL;
	struct err e = { 0 };

	must(plan_load(b->en, a, saved_path, &back, &e) == -1, "%s", why ? why : "");
	must(e.kind == ERR_CONFLICT, "%s: %s", err_kind_name(e.kind), e.msg);
	must(e.hint[0]);
	must(!why || strstr(e.msg, why), "%s", e.msg);
}

static void whole(struct bed *b)
{
	struct plan *p = save(b), *back = NULL;
	struct err e = { 0 };
	struct stat st;

	must(plan_load(b->en, b->a, saved_path, &back, &e) == 0, "%s", e.msg);
	must(strcmp(back->digest, p->digest) == 0);
	must(back->changes.n == p->changes.n && back->pools.n == 1);
	must(stat(saved_path, &st) == 0 && (st.st_mode & 0777) == 0600);
}

static void flipped(struct bed *b)
{
	save(b);
	char *bad = arena_dup(b->a, saved.p, saved.n);

	for (size_t i = 0; i < saved.n; i++) {
		bad[i] = (char)(saved.p[i] ^ (1 << (i % 8)));
		put((struct str){ bad, saved.n });
		refused(b, NULL);
		bad[i] = saved.p[i];
	}
	bad[saved.n - 1] = ' '; /* JSON would not mind */
	put((struct str){ bad, saved.n });
	refused(b, "changed or cut");
}

static void cut(struct bed *b)
{
	save(b);
	for (size_t n = 0; n < saved.n; n++) {
		put(str_sub(saved, 0, n));
		refused(b, NULL);
	}
	put((struct str){ arena_printf(b->a, STR_FMT "\n", STR_ARG(saved)), saved.n + 1 });
	refused(b, "changed or cut");
	put(STR(""));
	refused(b, "does not begin as a plan does");
	put(STR("{\"muster_plan\": 1}\n"));
	refused(b, "another version");
}

/* Whoever edits the plan can make its digest anew; the signature needs the key. */
static void digested_anew(struct bed *b)
{
	char digest[SHA256_HEX];

	save(b);
	char *text = str_cstr(b->a, saved);
	char *name = strstr(text, "debian-12"), *body = strchr(text, '\n') + 1;
	must(name);
	name[0] = 'D';
	sha256_hex(str_of(body), digest);
	char *at = strstr(text, "\"sha256\": \"");
	must(at && at < body);
	memcpy(at + 11, digest, 64);
	put(str_of(text));
	refused(b, "it was edited, or made for another state");
}

static void without_key(struct bed *b)
{
	save(b);
	char *key = fs_join(b->a, b->opts.state_dir, "seal.key");

	must(unlink(key) == 0);
	refused(b, "made for another state");
	must(!fs_exists(key));
	save(b); /* makes a key */
	must(fs_exists(key));
}

static void what_is_no_file(struct bed *b)
{
	const char *path = fs_join(b->a, b->dir, "odd");
	struct plan *back = NULL;
	struct err e = { 0 };

	saved_path = "/dev/zero";
	refused(b, "no regular file");
	saved_path = b->dir;
	refused(b, "no regular file");
	must(mkfifo(path, 0600) == 0);
	saved_path = path;
	refused(b, "no regular file");
	must(unlink(path) == 0);
	must(plan_load(b->en, b->a, path, &back, &e) == -1 && e.kind == ERR_NOT_FOUND);
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	must(fd >= 0 && ftruncate(fd, (off_t)2 << 30) == 0 && close(fd) == 0);
	refused(b, "more than 64 MiB");
	must(truncate(path, 60 << 20) == 0);
	refused(b, "does not begin as a plan does");
}

static void run_in_bed(void (*fn)(struct bed *b))
{
	struct bed b;

	bed_make(&b);
	bed_spec(&b, "", WEB);
	bed_run(&b, fn);
	bed_gone(&b);
}

static char kept[1 << 16]; /* the plan of another state */
static size_t kept_n;

static void keep(struct bed *b)
{
	save(b);
	must(saved.n < sizeof kept);
	memcpy(kept, saved.p, saved.n);
	kept_n = saved.n;
}

static void take_kept(struct bed *b)
{
	save(b); /* a key is there, another one */
	put((struct str){ kept, kept_n });
	refused(b, "it was edited, or made for another state");
}

#define IN_A_BED(name, fn)                         \
	static void name(void **unused unused_arg) \
	{                                          \
		run_in_bed(fn);                    \
	}
IN_A_BED(what_was_saved_comes_back, whole)
IN_A_BED(a_flipped_bit_is_noticed_anywhere, flipped)
IN_A_BED(a_cut_is_noticed_anywhere, cut)
IN_A_BED(a_new_digest_does_not_help, digested_anew)
IN_A_BED(without_the_key_nothing_is_taken, without_key)
IN_A_BED(what_is_no_file_is_refused_at_once, what_is_no_file)

static void a_plan_of_another_state_is_refused(void **unused unused_arg)
{
	run_in_bed(keep);
	run_in_bed(take_kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_saved_comes_back),
		cmocka_unit_test(a_flipped_bit_is_noticed_anywhere),
		cmocka_unit_test(a_cut_is_noticed_anywhere),
		cmocka_unit_test(a_new_digest_does_not_help),
		cmocka_unit_test(without_the_key_nothing_is_taken),
		cmocka_unit_test(what_is_no_file_is_refused_at_once),
		cmocka_unit_test(a_plan_of_another_state_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
