/* SPDX-License-Identifier: Apache-2.0 */
/*
 * INI values are Python literals or, where they are none, texts: `x=1` is a number, `x=01` and
 * `x=yes` are texts. In a folder every file counts but those that Ansible ignores; a file that is
 * executable would be a dynamic inventory, which is refused rather than run.
 */
#include "inventory/ansible_read.h"

#include <ctype.h>
#include <unistd.h>

#include "templates/templates.h"

#define MAX_BRACKETS 16

struct reader {
	struct arena *a;
	struct inv_raw *raw;
	struct err_list *errs;
	const char *file;
	int line;
	bool full;
	size_t made; /* names that the pattern has stood for so far, equal ones too */
};

static void fault(struct reader *r, const char *hint, const char *fmt, ...) printf_fmt(3, 4);
static void fault(struct reader *r, const char *hint, const char *fmt, ...)
{
	scoped(buf_fini) struct buf b = { 0 };
	va_list ap;

	buf_init(&b, 4096);
	va_start(ap, fmt);
	buf_addv(&b, fmt, ap);
	va_end(ap);
	err_list_addf(r->errs, (struct pos){ r->file, r->line, 1 }, hint, "%s", b.p);
}

static struct inv_group *group_get(struct reader *r, struct str name, struct pos pos)
{
	struct inv_group *g = map_get(&r->raw->groups, name);

	if (g)
		return g;
	g = arena_obj(r->a, struct inv_group);
	*g = (struct inv_group){ .name = str_cstr(r->a, name),
				 .pos = pos,
				 .vars = value_map(r->a),
				 .file_vars = value_map(r->a) };
	map_put(&r->raw->groups, name, g);
	return g;
}

static struct inv_raw_host *host_get(struct reader *r, struct str name)
{
	struct inv_raw_host *h = map_get(&r->raw->hosts, name);

	if (h)
		return h;
	if (r->raw->hosts.n >= INV_MAX_HOSTS) {
		if (!r->full)
			fault(r, NULL, "more than %d hosts", INV_MAX_HOSTS);
		r->full = true;
		return NULL;
	}
	h = arena_obj(r->a, struct inv_raw_host);
	*h = (struct inv_raw_host){ .name = str_cstr(r->a, name),
				    .vars = value_map(r->a),
				    .file_vars = value_map(r->a) };
	map_put(&r->raw->hosts, name, h);
	return h;
}

static void add_parent(struct reader *r, struct inv_group *child, struct inv_group *parent)
{
	for (size_t i = 0; i < child->parents.n; i++)
		if (child->parents.v[i] == parent)
			return;
	if (strcmp(parent->name, "all") != 0)
		VEC_ADD(r->a, &child->parents) = parent;
}

static void put_in_group(struct reader *r, struct inv_raw_host *h, struct inv_group *g)
{
	for (size_t i = 0; i < h->groups.n; i++)
		if (h->groups.v[i] == g)
			return;
	if (strcmp(g->name, "all") != 0 && strcmp(g->name, "ungrouped") != 0)
		VEC_ADD(r->a, &h->groups) = g;
}

/* ---- ranges: web[01:10], db-[a:f], x[1:9:2] ------------------------------------------------- */

static bool letters(struct str s)
{
	return s.n == 1 && isalpha((unsigned char)s.p[0]);
}

static int expand(struct reader *r, struct str prefix, struct str rest, struct map *out);

static int expand_range(struct reader *r, struct str prefix, struct str range, struct str rest,
			struct map *out)
{
	struct str from, to, step_text = STR_NONE;
	uint64_t low, high, step = 1;
	struct str parts = range;

	if (!str_next(&parts, ':', &from) || !str_next(&parts, ':', &to))
		return -1;
	if (parts.p)
		step_text = parts;
	bool alpha = letters(from) && letters(to);
	if (!from.n && !alpha)
		from = STR("0");
	if (step_text.p && (step_text.n > 9 || !str_to_uint(step_text, 10, &step) || !step))
		return -1;
	if (alpha) {
		low = (unsigned char)from.p[0];
		high = (unsigned char)to.p[0];
	} else if (!str_to_uint(from, 10, &low) || !str_to_uint(to, 10, &high) || from.n > 18 ||
		   to.n > 18) {
		return -1;
	}
	if (high < low || (from.n > 1 && from.p[0] == '0' && from.n != to.n) ||
	    (high - low) / step >= INV_MAX_HOSTS)
		return -1;
	int width = !alpha && from.n > 1 && from.p[0] == '0' ? (int)from.n : 0;
	for (uint64_t i = low; i <= high; i += step) {
		const char *name = alpha ? arena_printf(r->a, STR_FMT "%c", STR_ARG(prefix),
							(char)i)
					 : arena_printf(r->a, STR_FMT "%0*llu", STR_ARG(prefix),
							width, (unsigned long long)i);
		if (expand(r, str_of(name), rest, out) < 0)
			return -1;
	}
	return 0;
}

static int expand(struct reader *r, struct str prefix, struct str rest, struct map *out)
{
	size_t open = str_find_char(rest, '['), close = str_find_char(rest, ']');

	if (open == SIZE_MAX) {
		if (++r->made > INV_MAX_HOSTS)
			return -1;
		map_put(out,
			str_of(arena_printf(r->a, STR_FMT STR_FMT, STR_ARG(prefix), STR_ARG(rest))),
			out);
		return 0;
	}
	if (close == SIZE_MAX || close < open)
		return -1;
	struct str range = str_sub(rest, open + 1, close);
	struct str before = str_of(arena_printf(r->a, STR_FMT STR_FMT, STR_ARG(prefix),
						STR_ARG(str_sub(rest, 0, open))));
	/* "[2001:db8::1]" is an address, not a range. */
	if (!open && !prefix.n && close + 1 >= rest.n) {
		map_put(out, range, out);
		return 0;
	}
	return expand_range(r, before, range, str_sub(rest, close + 1, SIZE_MAX), out);
}

/* The names that a pattern stands for, and its port if it has one. */
static int host_names(struct reader *r, struct str pattern, struct map *out, int64_t *port)
{
	size_t colon = SIZE_MAX;
	int colons = 0, brackets = 0;
	bool inside = false;

	*port = 0;
	r->made = 0;
	map_init(out, r->a);
	for (size_t i = 0; i < pattern.n; i++) {
		brackets += pattern.p[i] == '[';
		inside = pattern.p[i] == '[' || (inside && pattern.p[i] != ']');
		if (pattern.p[i] == ':' && !inside) {
			colon = i;
			colons++;
		}
	}
	if (colons == 1 && str_to_int(str_sub(pattern, colon + 1, SIZE_MAX), port))
		pattern = str_sub(pattern, 0, colon);
	if (brackets <= MAX_BRACKETS && expand(r, STR(""), pattern, out) == 0 && out->n)
		return 0;
	fault(r, "write ranges as web[01:10] or db-[a:f]",
	      "\"" STR_FMT "\" is not a host or range of hosts", STR_ARG(str_sub(pattern, 0, 200)));
	return -1;
}

static void add_hosts(struct reader *r, struct str pattern, struct inv_group *g,
		      const struct value *vars)
{
	struct map names;
	int64_t port;

	if (host_names(r, pattern, &names, &port) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		struct inv_raw_host *h = host_get(r, names.e[i].key);
		if (!h)
			return;
		put_in_group(r, h, g);
		if (port)
			value_set(h->vars, "ansible_port", value_int(r->a, port));
		for (size_t k = 0; vars && vars->kind == V_MAP && k < vars->map.n; k++)
			value_sets(h->vars, vars->map.e[k].key, vars->map.e[k].val);
	}
}

/* ---- INI ------------------------------------------------------------------------------------ */

static const struct value *literal(struct reader *r, struct str s)
{
	const struct value *v;
	struct err ignored = { 0 };
	struct pos where = { r->file, r->line, 1 };
	int64_t i;
	double f;

	if (str_eqc(s, "True") || str_eqc(s, "False"))
		return value_bool(r->a, str_eqc(s, "True"));
	if (str_eqc(s, "None"))
		return value_null(r->a);
	bool octal = s.n > 1 && s.p[0] == '0' && isdigit((unsigned char)s.p[1]);
	if (!octal && str_to_int(s, &i))
		return value_int(r->a, i);
	if (s.n && (isdigit((unsigned char)s.p[0]) || s.p[0] == '-') && !octal &&
	    str_to_double(s, &f))
		return value_float(r->a, f);
	if (s.n > 1 && strchr("[{('\"", s.p[0]) && strchr("]})'\"", s.p[s.n - 1]) &&
	    !template_has_markup(s) &&
	    template_eval(r->a, (struct template){ s, where }, NULL, 0, &v, &ignored) == 0)
		return v;
	return value_str(r->a, s);
}

static const struct value *placed(struct reader *r, const struct value *v)
{
	struct value *copy = value_copy(r->a, v);

	copy->pos = (struct pos){ r->file, r->line, 1 };
	return copy;
}

/* The next word, quotes removed; an unquoted # ends the line. */
static bool next_word(struct reader *r, struct str *rest, struct str *word)
{
	scoped(buf_fini) struct buf b = { 0 };
	char quote = '\0';
	size_t i = 0;

	*rest = str_trim(*rest);
	if (!rest->n || rest->p[0] == '#')
		return false;
	buf_init(&b, 1 << 20);
	for (; i < rest->n && (quote || !isspace((unsigned char)rest->p[i])); i++) {
		char c = rest->p[i];
		if (quote ? c == quote : c == '\'' || c == '"')
			quote = quote ? '\0' : c;
		else if (c == '\\' && quote != '\'' && i + 1 < rest->n)
			buf_addc(&b, rest->p[++i]);
		else
			buf_addc(&b, c);
	}
	if (quote)
		fault(r, NULL, "a quote is not closed");
	*word = (struct str){ buf_dup(&b, r->a), b.n };
	*rest = str_sub(*rest, i, SIZE_MAX);
	return true;
}

static void ini_host(struct reader *r, struct inv_group *g, struct str line)
{
	struct value *vars = value_map(r->a);
	struct str host, word;

	if (!next_word(r, &line, &host))
		return;
	while (next_word(r, &line, &word)) {
		size_t eq = str_find_char(word, '=');
		if (eq == SIZE_MAX || !eq) {
			fault(r, "put variables as key=value; quote values with blanks",
			      "expected key=value, not \"" STR_FMT "\"", STR_ARG(word));
			return;
		}
		value_sets(vars, str_sub(word, 0, eq),
			   placed(r, literal(r, str_sub(word, eq + 1, SIZE_MAX))));
	}
	add_hosts(r, host, g, vars);
}

static void ini_var(struct reader *r, struct inv_group *g, struct str line)
{
	size_t eq = str_find_char(line, '=');

	if (eq == SIZE_MAX) {
		fault(r, NULL, "expected key=value in a section of variables");
		return;
	}
	value_sets(g->vars, str_trim(str_sub(line, 0, eq)),
		   placed(r, literal(r, str_trim(str_sub(line, eq + 1, SIZE_MAX)))));
}

enum section { SECTION_HOSTS, SECTION_CHILDREN, SECTION_VARS };

static bool ini_section(struct reader *r, struct str line, struct inv_group **g, enum section *kind)
{
	struct pos pos = { r->file, r->line, 1 };
	size_t close = str_find_char(line, ']');

	if (close == SIZE_MAX) {
		fault(r, NULL, "\"[\" without \"]\"");
		return false;
	}
	struct str name = str_sub(line, 1, close), suffix = STR_NONE;
	size_t colon = str_find_char(name, ':');
	if (colon != SIZE_MAX) {
		suffix = str_sub(name, colon + 1, SIZE_MAX);
		name = str_sub(name, 0, colon);
	}
	*kind = SECTION_HOSTS;
	if (str_eqc(suffix, "children"))
		*kind = SECTION_CHILDREN;
	else if (str_eqc(suffix, "vars"))
		*kind = SECTION_VARS;
	else if (suffix.n)
		fault(r, "sections are [group], [group:children] and [group:vars]",
		      "unknown kind of section \"" STR_FMT "\"", STR_ARG(suffix));
	if (!name.n)
		fault(r, NULL, "a section without a name");
	*g = group_get(r, name, pos);
	return true;
}

static void read_ini(struct reader *r, struct str text)
{
	struct inv_group *g = map_getc(&r->raw->groups, "ungrouped");
	enum section kind = SECTION_HOSTS;
	struct str line;

	for (r->line = 1; str_next_line(&text, &line); r->line++) {
		line = str_trim(line);
		if (!line.n || line.p[0] == '#' || line.p[0] == ';')
			continue;
		if (line.p[0] == '[' &&
		    !(kind == SECTION_HOSTS && str_find_char(line, ']') != line.n - 1 &&
		      str_find(line, STR("::")) != SIZE_MAX)) {
			if (!ini_section(r, line, &g, &kind))
				return;
		} else if (kind == SECTION_HOSTS) {
			ini_host(r, g, line);
		} else if (kind == SECTION_VARS) {
			ini_var(r, g, line);
		} else {
			struct str name;
			if (next_word(r, &line, &name))
				add_parent(r,
					   group_get(r, name, (struct pos){ r->file, r->line, 1 }),
					   g);
		}
	}
}

/* ---- YAML ----------------------------------------------------------------------------------- */

static void yaml_fault(struct reader *r, const struct value *v, const char *msg)
{
	r->line = v->pos.line ? v->pos.line : r->line;
	fault(r, NULL, "%s", msg);
}

static void yaml_vars(struct reader *r, struct inv_group *g, const struct value *v)
{
	if (v->kind == V_NULL)
		return;
	if (v->kind != V_MAP) {
		yaml_fault(r, v, "vars must be a map");
		return;
	}
	g->vars = value_merge(r->a, g->vars, v, false);
}

static void yaml_hosts(struct reader *r, struct inv_group *g, const struct value *v)
{
	if (v->kind == V_STR) {
		add_hosts(r, v->s, g, NULL);
		return;
	}
	if (v->kind != V_MAP && v->kind != V_NULL) {
		yaml_fault(r, v, "hosts must be a map of names");
		return;
	}
	for (size_t i = 0; v->kind == V_MAP && i < v->map.n; i++) {
		const struct value *vars = v->map.e[i].val;
		r->line = vars->pos.line ? vars->pos.line : r->line;
		if (vars->kind != V_MAP && vars->kind != V_NULL)
			yaml_fault(r, vars, "a host's variables must be a map");
		else
			add_hosts(r, v->map.e[i].key, g, vars);
	}
}

static void yaml_group(struct reader *r, struct inv_group *g, const struct value *v, int depth);

static void yaml_children(struct reader *r, struct inv_group *g, const struct value *v, int depth)
{
	if (v->kind != V_MAP && v->kind != V_NULL) {
		yaml_fault(r, v, "children must be a map of groups");
		return;
	}
	for (size_t i = 0; v->kind == V_MAP && i < v->map.n; i++) {
		struct inv_group *child = group_get(r, v->map.e[i].key,
						    ((const struct value *)v->map.e[i].val)->pos);
		add_parent(r, child, g);
		yaml_group(r, child, v->map.e[i].val, depth + 1);
	}
}

static void yaml_group(struct reader *r, struct inv_group *g, const struct value *v, int depth)
{
	if (v->kind == V_NULL)
		return;
	if (v->kind != V_MAP || depth > 40) {
		yaml_fault(r, v,
			   depth > 40 ? "groups nested too deep"
				      : "a group must be a map with hosts, vars and children");
		return;
	}
	for (size_t i = 0; i < v->map.n; i++) {
		const struct value *sub = v->map.e[i].val;
		struct str key = v->map.e[i].key;
		if (str_eqc(key, "hosts"))
			yaml_hosts(r, g, sub);
		else if (str_eqc(key, "vars"))
			yaml_vars(r, g, sub);
		else if (str_eqc(key, "children"))
			yaml_children(r, g, sub, depth);
		else
			yaml_fault(r, sub,
				   arena_printf(r->a,
						"group \"%s\": unknown key \"" STR_FMT
						"\": use hosts, vars or children",
						g->name, STR_ARG(key)));
	}
}

static struct value *parse_yaml(struct reader *r, struct str text)
{
	struct value *v = NULL;

	if (str_starts(text, "$ANSIBLE_VAULT")) {
		fault(r, "decrypt it with ansible-vault, or give the values with secret(...)",
		      "files of ansible-vault are not supported by this version yet");
		return NULL;
	}
	if (yaml_parse(r->a, r->file, text, YAML_ANSIBLE, &v, r->errs) < 0)
		return NULL;
	return v;
}

static void read_yaml(struct reader *r, struct str text)
{
	struct value *v = parse_yaml(r, text);

	if (!v || v->kind == V_NULL)
		return;
	if (v->kind != V_MAP) {
		yaml_fault(r, v, "an inventory is a map of groups");
		return;
	}
	for (size_t i = 0; i < v->map.n; i++) {
		const struct value *sub = v->map.e[i].val;
		yaml_group(r, group_get(r, v->map.e[i].key, sub->pos), sub, 1);
	}
}

/* ---- files ---------------------------------------------------------------------------------- */

static bool has_suffix(struct str name, const char *const *suffixes)
{
	for (; *suffixes; suffixes++)
		if (str_ends(name, *suffixes))
			return true;
	return false;
}

static const char *const yaml_suffixes[] = { ".yaml", ".yml", ".json", NULL };
static const char *const ignored_suffixes[] = { "~",	".orig", ".cfg", ".retry", ".pyc",
						".pyo", ".swp",	 ".bak", ".md",	   NULL };

static int read_text(struct reader *r, const char *path, struct str *text)
{
	struct err e = { 0 };

	r->file = arena_strdup(r->a, path);
	r->line = 1;
	if (fs_read(r->a, path, YAML_MAX_BYTES, text, &e) == 0)
		return 0;
	err_list_add(r->errs, &e);
	return -1;
}

static void read_inventory_file(struct reader *r, const char *path)
{
	struct str text;

	if (read_text(r, path, &text) < 0)
		return;
	if (str_starts(text, "#!") && access(path, X_OK) == 0) {
		fault(r, "run it and save what it prints as a .json or .yaml file",
		      "dynamic inventories are not supported by this version yet");
		return;
	}
	if (has_suffix(str_of(path), yaml_suffixes))
		read_yaml(r, text);
	else
		read_ini(r, text);
}

static struct value *read_vars_file(struct reader *r, const char *path, struct value *under)
{
	struct str text;

	if (read_text(r, path, &text) < 0)
		return under;
	struct value *v = parse_yaml(r, text);
	if (!v || v->kind == V_NULL)
		return under;
	if (v->kind != V_MAP) {
		yaml_fault(r, v, "a file of variables is a map");
		return under;
	}
	return value_merge(r->a, under, v, false);
}

/* DIR/NAME, DIR/NAME.yml ..., or every file of the folder DIR/NAME/ in order. */
static struct value *read_vars(struct reader *r, const char *dir, const char *name,
			       struct value *under)
{
	static const char *const suffixes[] = { "", ".yml", ".yaml", ".json" };
	struct fs_names list = { 0 };
	struct err e = { 0 };

	if (strchr(name, '/'))
		return under;
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		const char *path = fs_join(r->a, dir,
					   arena_printf(r->a, "%s%s", name, suffixes[i]));
		if (!fs_exists(path))
			continue;
		if (!fs_is_dir(path)) {
			under = read_vars_file(r, path, under);
		} else if (fs_list(r->a, path, &list, &e) < 0) {
			err_list_add(r->errs, &e);
		}
		for (size_t k = 0; fs_is_dir(path) && k < list.names.n; k++)
			if (list.names.v[k][0] != '.' &&
			    !has_suffix(str_of(list.names.v[k]), ignored_suffixes))
				under = read_vars_file(r, fs_join(r->a, path, list.names.v[k]),
						       under);
	}
	return under;
}

static void read_vars_beside(struct reader *r, const char *dir)
{
	const char *groups = fs_join(r->a, dir, "group_vars"),
		   *hosts = fs_join(r->a, dir, "host_vars");

	for (size_t i = 0; fs_is_dir(groups) && i < r->raw->groups.n; i++) {
		struct inv_group *g = r->raw->groups.e[i].val;
		g->file_vars = read_vars(r, groups, g->name, g->file_vars);
	}
	for (size_t i = 0; fs_is_dir(hosts) && i < r->raw->hosts.n; i++) {
		struct inv_raw_host *h = r->raw->hosts.e[i].val;
		h->file_vars = read_vars(r, hosts, h->name, h->file_vars);
	}
}

static void read_folder(struct reader *r, const char *path)
{
	struct fs_names list = { 0 };
	struct err e = { 0 };

	if (fs_list(r->a, path, &list, &e) < 0) {
		err_list_add(r->errs, &e);
		return;
	}
	for (size_t i = 0; i < list.names.n; i++) {
		const char *name = list.names.v[i], *file = fs_join(r->a, path, name);
		if (name[0] == '.' || fs_is_dir(file) || has_suffix(str_of(name), ignored_suffixes))
			continue;
		read_inventory_file(r, file);
	}
	read_vars_beside(r, path);
}

static void read_list(struct reader *r, const char *source)
{
	struct str rest = str_of(source), item;

	r->file = "(hosts)";
	r->line = 1;
	while (str_next(&rest, ',', &item))
		if (str_trim(item).n)
			add_hosts(r, str_trim(item), map_getc(&r->raw->groups, "ungrouped"), NULL);
}

int inv_read(struct arena *a, const char *source, struct inv_raw *raw, struct err_list *errs)
{
	struct reader r = { .a = a, .raw = raw, .errs = errs };
	struct pos nowhere = { 0 };
	size_t before = errs->n + errs->dropped;

	map_init(&raw->groups, a);
	map_init(&raw->hosts, a);
	group_get(&r, STR("all"), nowhere);
	group_get(&r, STR("ungrouped"), nowhere);
	if (strchr(source, ',')) {
		read_list(&r, source);
	} else if (fs_is_dir(source)) {
		read_folder(&r, source);
	} else {
		read_inventory_file(&r, source);
		read_vars_beside(&r, fs_dirname(a, source));
	}
	return errs->n + errs->dropped > before ? -1 : 0;
}
