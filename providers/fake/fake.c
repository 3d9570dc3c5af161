/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/fake/cloud.h"
#include "providers/fake/fake.h"

#include "providers/options.h"

static const struct field fault_fields[] = {
	FIELD(fake_fault, call, F_ENUM, FIELD_REQUIRED, NULL,
	      "create|update|destroy|list|find|reboot", "which call"),
	FIELD(fake_fault, match, F_STR, 0, "*", NULL, "glob over the object's name"),
	FIELD(fake_fault, nth, F_INT, 0, "0", "0..1000000000",
	      "only the nth matching call, from 1; 0: every one"),
	FIELD(fake_fault, times, F_INT, 0, "1", "1..1000000000",
	      "how many calls in a row, from the nth"),
	FIELD(fake_fault, error, F_STR, 0, NULL, NULL,
	      "fails so, without effect unless `late`: auth, not_found, conflict, quota, capacity, busy, timeout, remote or io"),
	FIELD(fake_fault, late, F_BOOL, 0, "false", NULL,
	      "`error` comes after the effect, not instead of it"),
	FIELD(fake_fault, lost, F_BOOL, 0, "false", NULL,
	      "has its effect, but the answer never arrives"),
	FIELD(fake_fault, ignored, F_BOOL, 0, "false", NULL,
	      "destroy: is answered as done, but nothing is"),
	FIELD(fake_fault, twice, F_BOOL, 0, "false", NULL, "the request arrives twice"),
	FIELD(fake_fault, vanish, F_BOOL, 0, "false", NULL,
	      "the object is gone once the call has been answered"),
	FIELD(fake_fault, delay, F_DURATION, 0, "0ms", NULL, "takes so much longer"),
	FIELD_END,
};

static const struct field ssh_fields[] = {
	FIELD(fake_ssh, host, F_STR, FIELD_REQUIRED, NULL, NULL, "name or address of the sshd"),
	FIELD(fake_ssh, port, F_INT, 0, "22", "1..65535", "its port"),
	FIELD(fake_ssh, user, F_STR, 0, NULL, NULL, "login name"),
	FIELD(fake_ssh, netns, F_STR, 0, NULL, NULL,
	      "path of the network namespace that it listens in"),
	FIELD(fake_ssh, host_key, F_STR, 0, NULL, NULL, "its host key, to be trusted at once"),
	FIELD_END,
};

static const struct field options[] = {
	FIELD(fake_options, file, F_PATH, 0, NULL, NULL,
	      "where the cloud is kept; default: a file beside muster's state"),
	FIELD(fake_options, create_ms, F_INT, 0, "0", "0..3600000",
	      "milliseconds that a create takes"),
	FIELD(fake_options, update_ms, F_INT, 0, "0", "0..3600000",
	      "milliseconds that an update or reboot takes"),
	FIELD(fake_options, delete_ms, F_INT, 0, "0", "0..3600000",
	      "milliseconds that a delete takes"),
	FIELD(fake_options, list_ms, F_INT, 0, "0", "0..3600000",
	      "milliseconds that each page of a list, and a find, takes"),
	FIELD(fake_options, throttle_per_s, F_INT, 0, "0", "0..1000000",
	      "calls a second; more are refused as busy; 0: no limit"),
	FIELD(fake_options, capacity, F_INT, 0, "0", "0..1000000000",
	      "machines that the cloud has room for; 0: no limit"),
	FIELD(fake_options, quota, F_INT, 0, "0", "0..1000000000",
	      "machines that a cluster may have; 0: no limit"),
	FIELD(fake_options, settle_ms, F_INT, 0, "0", "0..3600000",
	      "milliseconds until a new object shows in lists and can be found"),
	FIELD(fake_options, page, F_INT, 0, "1000", "1..100000", "objects in a page of a list"),
	FIELD(fake_options, lose_reply, F_INT, 0, "0", "0..1000000000",
	      "every nth create is done but its answer is lost; 0: none"),
	FIELD(fake_options, fail_every, F_INT, 0, "0", "0..1000000000",
	      "every nth create fails without effect; 0: none"),
	FIELD_SUB(fake_options, error_script, F_LIST_OF, 0, fault_fields, fake_fault,
		  "faults to play, by call and name"),
	FIELD_SUB(fake_options, ssh, F_OBJ, 0, ssh_fields, fake_ssh,
		  "a real sshd that stands in for every machine"),
	FIELD_END,
};

struct fake_pool_options {
	struct obj obj;
	struct str zone;
	const struct value *labels;
};

static const struct field pool_options[] = {
	FIELD(fake_pool_options, zone, F_STR, FIELD_FIXED, NULL, NULL,
	      "zone that the machines are made in"),
	FIELD(fake_pool_options, labels, F_VALUE, 0, NULL, NULL, "words attached to each machine"),
	FIELD_END,
};

static const struct resource_type *const types[] = { &fake_network, &fake_machine, NULL };

static void fake_close(struct provider *p)
{
	if (!p)
		return;
	fake_store_close(p);
	arena_free(p->a);
}

static const char *default_file(struct arena *a, const struct provider_open *o)
{
	return fs_join(a, o->state_dir,
		       arena_printf(a, "fake-" STR_FMT ".db", STR_ARG(o->spec->name)));
}

/* The provider has an arena of its own, so that close frees all of it however long the caller's
 * lives. */
static int fake_open(struct arena *caller unused_arg, const struct provider_open *o,
		     struct provider **out, struct err *e)
{
	struct arena *a = arena_new("fake provider");
	struct provider *p = arena_obj(a, struct provider);
	p->a = a;
	p->cluster = arena_strdup(a, o->cluster);
	if (provider_options(a, o, options, &p->o, e) || fake_check_script(&p->o, e)) {
		fake_close(p);
		return -1;
	}
	p->file = p->o.file.n ? str_cstr(a, p->o.file) : default_file(a, o);
	if (fs_mkdirs(fs_dirname(a, p->file), 0700, e) || fake_store_open(p, e)) {
		fake_close(p);
		return -1;
	}
	*out = p;
	return 0;
}

static bool fake_can_login(struct provider *p)
{
	return p->o.ssh.host.n > 0;
}

const struct provider_type fake_provider = {
	.name = "fake",
	.doc = "a cloud kept in a file, with scripted delays and faults, for tests and demonstrations",
	.options = options,
	.pool_options = pool_options,
	.owns_hosts = true,
	.has_network = true,
	.types = types,
	.open = fake_open,
	.close = fake_close,
	.can_login = fake_can_login,
};
