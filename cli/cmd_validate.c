/* SPDX-License-Identifier: Apache-2.0 */
/* validate, schema, completion, init: what needs no state and no network. */
#include <stdio.h>

#include "cli/complete.h"
#include "cli/view.h"

static int cmd_validate(struct cli *c, struct err *e)
{
	struct err_list errs = { 0 };

	if (session_no_args(c, e) < 0)
		return -1;
	err_list_fini(&errs);
	if (c->g.json) {
		struct value *v = value_map(c->a);

		value_set(v, "valid", value_bool(c->a, true));
		value_set(v, "cluster", value_str(c->a, c->spec->cluster));
		value_set(v, "nodes", value_int(c->a, (int64_t)c->fleet->nodes.n));
		view_json(c, v);
	} else {
		size_t pools = c->spec->pools.n, nodes = c->fleet->nodes.n;
		view_outf(c, "%s is valid: cluster " STR_FMT ", %zu pool%s, %zu node%s\n",
			  c->spec->file, STR_ARG(c->spec->cluster), pools, pools == 1 ? "" : "s",
			  nodes, nodes == 1 ? "" : "s");
	}
	return EXIT_DONE;
}

static int cmd_schema(struct cli *c, struct err *e)
{
	scoped(buf_fini) struct buf b = { 0 };

	if (session_no_args(c, e) < 0)
		return -1;
	buf_init(&b, BUF_MAX_DEFAULT);
	field_schema(&b, spec_fields, "muster cluster spec");
	view_out(c, &b);
	return EXIT_DONE;
}

static int cmd_completion(struct cli *c, struct err *e)
{
	scoped(buf_fini) struct buf b = { 0 };

	if (session_arg_count(c, 1, 1, e) < 0)
		return -1;
	buf_init(&b, BUF_MAX_DEFAULT);
	if (complete_script(&b, c->args.v.v[0], e) < 0)
		return -1;
	view_out(c, &b);
	return EXIT_DONE;
}

/* ---- init ---- */

static const struct starter {
	const char *provider, *text;
} starters[] = {
	{ "local",
	  "# A fleet of throw-away hosts on this Linux machine (root; see muster.yaml(5)).\n"
	  "cluster: %s\n"
	  "\n"
	  "providers:\n"
	  "  local: {}\n"
	  "\n"
	  "pools:\n"
	  "  web:\n"
	  "    provider: local\n"
	  "    count: 3                 # nodes web-0 web-1 web-2\n"
	  "    image: debian-12\n"
	  "    playbooks: [site.yml]\n"
	  "    vars: {greeting: hello}\n" },
	{ "ssh", "# Machines that exist, reached over SSH.\n"
		 "cluster: %s\n"
		 "\n"
		 "providers:\n"
		 "  metal: {type: ssh}\n"
		 "\n"
		 "pools:\n"
		 "  web:\n"
		 "    provider: metal\n"
		 "    hosts: [\"node[01-04].example.org\"]\n"
		 "    ssh: {user: admin, key: ~/.ssh/id_ed25519}\n"
		 "    playbooks: [site.yml]\n"
		 "    vars: {greeting: hello}\n" },
	{ "fake", "# A pretended cloud in a file: to learn muster, and to test pipelines.\n"
		  "cluster: %s\n"
		  "\n"
		  "providers:\n"
		  "  cloud: {type: fake}\n"
		  "\n"
		  "pools:\n"
		  "  web:\n"
		  "    provider: cloud\n"
		  "    count: 3\n"
		  "    image: debian-12\n"
		  "    machine: small\n" },
};

static const char starter_playbook[] =
	"# An Ansible-format playbook; every node of the pool runs it.\n"
	"- hosts: all\n"
	"  become: true\n"
	"  tasks:\n"
	"    - name: Greet whoever logs in\n"
	"      copy:\n"
	"        dest: /etc/motd\n"
	"        mode: \"0644\"\n"
	"        content: \"{{ greeting }} from {{ inventory_hostname }}\\n\"\n";

struct init_opts {
	const char *name;
	bool force;
};

static const struct starter *starter_find(const char *provider, struct err *e)
{
	const char *known[ARRAY_LEN(starters)];

	for (size_t i = 0; i < ARRAY_LEN(starters); i++) {
		known[i] = starters[i].provider;
		if (strcmp(starters[i].provider, provider) == 0)
			return &starters[i];
	}
	const char *near = str_suggest(str_of(provider), known, ARRAY_LEN(known));

	err_set(e, ERR_USAGE, "there is no starter spec for provider \"%s\"", provider);
	if (near)
		err_hint(e, "did you mean `muster init %s`?", near);
	else
		err_hint(e, "choose local, ssh or fake");
	return NULL;
}

static int write_new(struct cli *c, const char *path, struct str text, bool force, struct err *e)
{
	if (fs_exists(path) && !force) {
		err_set(e, ERR_CONFLICT, "%s exists already", path);
		return err_hint(e, "choose another folder with -C, or overwrite it with --force");
	}
	if (fs_write_atomic(path, text, 0644, e) < 0)
		return -1;
	view_notef(c, "wrote %s\n", path);
	return 0;
}

static int cmd_init(struct cli *c, struct err *e)
{
	const struct init_opts *o = c->opts;
	const struct starter *s;
	const char *path = c->g.file ? c->g.file : "muster.yaml";
	bool has_playbook;
	scoped(buf_fini) struct buf b = { 0 };

	if (session_arg_count(c, 0, 1, e) < 0)
		return -1;
	s = starter_find(c->args.v.n ? c->args.v.v[0] : "local", e);
	if (!s)
		return -1;
	buf_init(&b, 65536);
	struct str text = str_of(s->text);
	size_t at = str_find(text, STR("%s"));

	buf_addstr(&b, str_sub(text, 0, at));
	buf_adds(&b, o->name ? o->name : "demo");
	buf_addstr(&b, str_sub(text, at + 2, SIZE_MAX));
	if (write_new(c, path, buf_str(&b), o->force, e) < 0)
		return -1;
	has_playbook = str_find(text, STR("site.yml")) != SIZE_MAX;
	const char *playbook = fs_join(c->a, fs_dirname(c->a, path), "site.yml");

	if (has_playbook && !fs_exists(playbook) &&
	    write_new(c, playbook, str_of(starter_playbook), false, e) < 0)
		return -1;
	view_notef(c, "next: muster plan\n");
	return EXIT_DONE;
}

static const struct opt init_opts[] = {
	{ "name", 'n', OPT_STR, offsetof(struct init_opts, name), "NAME",
	  "the cluster's name (default demo)", NULL },
	{ "force", 0, OPT_FLAG, offsetof(struct init_opts, force), NULL,
	  "overwrite an existing spec", NULL },
	OPT_END,
};

const struct command command_init = {
	"init",
	"[local|ssh|fake]",
	"writes a commented starter spec",
	"For hosts on this machine (local, the default), machines that exist (ssh), or a pretended cloud (fake). Writes muster.yaml, and site.yml where the machines can be configured.",
	init_opts,
	sizeof(struct init_opts),
	0,
	cmd_init,
};
const struct command command_validate = {
	"validate", "",		  "checks the spec and its playbooks, offline; all faults at once",
	NULL,	    NULL,	  0,
	NEEDS_SPEC, cmd_validate,
};
const struct command command_schema = {
	"schema", "",	      "prints the JSON Schema of muster.yaml, for editors", NULL, NULL, 0,
	0,	  cmd_schema,
};
const struct command command_completion = {
	"completion",
	"bash|zsh|fish",
	"prints a completion script",
	"For example: source <(muster completion bash).",
	NULL,
	0,
	0,
	cmd_completion,
};
