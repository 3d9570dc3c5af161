/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libyaml's events become values in one pass. Its own document API is not used: it has no bounds
 * and no merge keys. An alias shares the value of its anchor, so memory stays small however often
 * it is used; but whoever walks the result meets the nodes each time, so they are counted each
 * time, and the count and the depth are bounded after expansion. A fault in the meaning is noted
 * and reading goes on, so that one run shows them all; a fault in the syntax ends it.
 */
#include "base/yaml.h"

#include "base/yaml_fault.h"
#include "base/yaml_scalar.h"

struct anchor {
	struct value *v;
	size_t nodes; /* of its tree, aliases expanded */
	int height;   /* levels below it */
	bool complete;
};

struct reader {
	struct arena *a;
	struct yaml_text text;
	enum yaml_dialect dialect;
	struct err_list *errs;
	yaml_parser_t parser;
	struct map anchors; /* name -> struct anchor */
	size_t nodes;
	size_t faults;
	int unsafe; /* > 0 inside !unsafe */
	bool stop;  /* no more events: a syntax fault or a bound */
};

struct node {
	struct value *v; /* NULL only when stopping */
	int height;
	bool plain; /* a scalar without quotes: as a key its kind matters */
	struct str text;
};

static void fault_at(struct reader *r, struct pos p, struct err *e)
{
	e->pos = p;
	err_list_add(r->errs, e);
	r->faults++;
}

static void fault(struct reader *r, struct pos p, const char *hint, const char *fmt, ...)
	printf_fmt(4, 5);

static void fault(struct reader *r, struct pos p, const char *hint, const char *fmt, ...)
{
	struct err e;
	char msg[sizeof(e.msg)];
	struct buf b;
	va_list ap;

	buf_init(&b, sizeof(msg) * 4);
	va_start(ap, fmt);
	buf_addv(&b, fmt, ap);
	va_end(ap);
	err_set(&e, ERR_SPEC, "%s", buf_str(&b).p);
	if (hint)
		err_hint(&e, "%s", hint);
	buf_fini(&b);
	fault_at(r, p, &e);
}

static bool next_event(struct reader *r, yaml_event_t *ev)
{
	struct err e;

	if (r->stop)
		return false;
	if (yaml_parser_parse(&r->parser, ev))
		return true;
	r->stop = true;
	yaml_fault(&r->text, &r->parser, &e);
	err_list_add(r->errs, &e);
	r->faults++;
	return false;
}

static struct pos pos_of(struct reader *r, const yaml_event_t *ev)
{
	return yaml_text_pos(&r->text, ev->start_mark);
}

static void count_nodes(struct reader *r, struct pos p, size_t n)
{
	r->nodes += n;
	if (r->nodes <= YAML_MAX_NODES || r->stop)
		return;
	r->stop = true;
	fault(r, p, "use fewer aliases, or split the file", "more than %d values, aliases expanded",
	      YAML_MAX_NODES);
}

static bool too_deep(struct reader *r, struct pos p, int depth)
{
	if (depth <= YAML_MAX_DEPTH)
		return false;
	if (!r->stop)
		fault(r, p, "nest less deeply", "more than %d levels deep", YAML_MAX_DEPTH);
	r->stop = true;
	return true;
}

static struct value *new_value(struct reader *r, enum value_kind kind, struct pos p)
{
	struct value *v = arena_obj(r->a, struct value);

	v->kind = kind;
	v->pos = p;
	v->unsafe = r->unsafe > 0;
	if (kind == V_MAP)
		map_init(&v->map, r->a);
	return v;
}

/* ---- anchors and aliases ---- */

static struct anchor *add_anchor(struct reader *r, const yaml_char_t *name, struct value *v)
{
	struct anchor *an;

	if (!name)
		return NULL;
	an = arena_obj(r->a, struct anchor);
	an->v = v;
	map_put(&r->anchors, str_of((const char *)name), an);
	return an;
}

static void complete(struct anchor *an, size_t nodes, int height)
{
	if (!an)
		return;
	an->nodes = nodes;
	an->height = height;
	an->complete = true;
}

static struct node read_alias(struct reader *r, const yaml_event_t *ev, int depth)
{
	const char *name = (const char *)ev->data.alias.anchor;
	const struct anchor *an = map_getc(&r->anchors, name);
	struct pos p = pos_of(r, ev);

	if (!an) {
		fault(r, p, "define it before with &name, or quote a text that begins with '*'",
		      "the alias *%s is not defined", name);
		return (struct node){ .v = new_value(r, V_UNKNOWN, p) };
	}
	if (!an->complete) {
		fault(r, p, "take the alias out", "the alias *%s is inside its own anchor", name);
		return (struct node){ .v = new_value(r, V_UNKNOWN, p) };
	}
	count_nodes(r, p, an->nodes);
	too_deep(r, p, depth + an->height);
	return (struct node){ .v = an->v,
			      .height = an->height,
			      .text = an->v->kind == V_STR ? an->v->s : STR_NONE };
}

/* ---- tags ---- */

enum tag {
	TAG_NONE,
	TAG_TEXT,
	TAG_STR,
	TAG_INT,
	TAG_FLOAT,
	TAG_BOOL,
	TAG_NULL,
	TAG_MAP,
	TAG_LIST,
	TAG_UNSAFE,
	TAG_BAD
};

static enum tag read_tag(struct reader *r, const yaml_char_t *tag, struct pos p)
{
	static const struct {
		const char *name;
		enum tag tag;
	} known[] = {
		{ "!", TAG_TEXT },	     { YAML_STR_TAG, TAG_STR },
		{ YAML_INT_TAG, TAG_INT },   { YAML_FLOAT_TAG, TAG_FLOAT },
		{ YAML_BOOL_TAG, TAG_BOOL }, { YAML_NULL_TAG, TAG_NULL },
		{ YAML_MAP_TAG, TAG_MAP },   { YAML_SEQ_TAG, TAG_LIST },
	};
	struct str name = str_of((const char *)tag);

	if (!tag)
		return TAG_NONE;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_eqc(name, known[i].name))
			return known[i].tag;
	if (r->dialect == YAML_ANSIBLE && str_eqc(name, "!unsafe"))
		return TAG_UNSAFE;
	if (r->dialect == YAML_ANSIBLE &&
	    (str_eqc(name, "!vault") || str_eqc(name, "!vault-encrypted")))
		fault(r, p,
		      "give the value in another way, e.g. with a variable from the environment",
		      "values encrypted with !vault are not supported yet");
	else
		fault(r, p, "remove the tag, or quote the text if it begins with '!'",
		      "the tag " STR_FMT " is not known", STR_ARG(name));
	return TAG_BAD;
}

/* ---- scalars ---- */

static void check_tagged(struct reader *r, struct value *v, enum tag tag, struct str text)
{
	static const struct {
		enum tag tag;
		enum value_kind kind;
	} want[] = { { TAG_INT, V_INT },
		     { TAG_FLOAT, V_FLOAT },
		     { TAG_BOOL, V_BOOL },
		     { TAG_NULL, V_NULL } };

	if (v->kind == V_UNKNOWN)
		return;
	if (tag == TAG_FLOAT && v->kind == V_INT) {
		v->f = (double)v->i;
		v->kind = V_FLOAT;
	}
	if (tag == TAG_MAP || tag == TAG_LIST)
		fault(r, v->pos, "remove the tag", "the tag does not fit a single value");
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		if (tag == want[i].tag && v->kind != want[i].kind)
			fault(r, v->pos, "remove the tag, or correct the value",
			      "'" STR_FMT "' is not %s", STR_ARG(text),
			      value_kind_name(want[i].kind));
}

static void resolve(struct reader *r, struct value *v, struct str text)
{
	struct err e;

	if (r->dialect == YAML_ANSIBLE) {
		yaml_scalar_ansible(r->a, text, v);
	} else if (yaml_scalar_spec(r->a, text, v, &e) != 0) {
		fault_at(r, v->pos, &e);
		v->kind = V_UNKNOWN; /* so that whoever checks on does not complain of it again */
	}
}

static struct node read_scalar(struct reader *r, const yaml_event_t *ev, bool is_key)
{
	struct str text = { (const char *)ev->data.scalar.value, ev->data.scalar.length };
	struct value *v = new_value(r, V_STR, pos_of(r, ev));
	enum tag tag = read_tag(r, ev->data.scalar.tag, v->pos);
	bool plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && tag == TAG_NONE;
	struct anchor *an = add_anchor(r, ev->data.scalar.anchor, v);

	count_nodes(r, v->pos, 1);
	complete(an, 1, 0);
	if (tag == TAG_UNSAFE)
		v->unsafe = true;
	/* A key is its text whatever it looks like; whether that is well is decided with the map in
	 * view. */
	if (!is_key && (plain || (tag >= TAG_INT && tag <= TAG_LIST))) {
		resolve(r, v, text);
		check_tagged(r, v, tag, text);
	} else {
		v->s = str_dup(r->a, text);
	}
	return (struct node){ .v = v, .plain = plain, .text = v->kind == V_STR ? v->s : STR_NONE };
}

/* ---- lists and maps ---- */

static struct node read_node(struct reader *r, const yaml_event_t *ev, int depth, bool is_key);

static void raise(int *height, int child)
{
	if (child + 1 > *height)
		*height = child + 1;
}

static struct node read_list(struct reader *r, const yaml_event_t *start, int depth)
{
	struct value *v = new_value(r, V_LIST, pos_of(r, start));
	enum tag tag = read_tag(r, start->data.sequence_start.tag, v->pos);
	struct anchor *an = add_anchor(r, start->data.sequence_start.anchor, v);
	size_t before = r->nodes;
	int height = 0;

	if (tag != TAG_NONE && tag != TAG_LIST && tag != TAG_UNSAFE && tag != TAG_BAD &&
	    tag != TAG_TEXT)
		fault(r, v->pos, "remove the tag", "the tag does not fit a list");
	r->unsafe += tag == TAG_UNSAFE;
	v->unsafe = r->unsafe > 0;
	count_nodes(r, v->pos, 1);
	for (;;) {
		scoped(yaml_event_delete) yaml_event_t ev = { 0 };
		struct node item;
		if (!next_event(r, &ev) || ev.type == YAML_SEQUENCE_END_EVENT)
			break;
		item = read_node(r, &ev, depth + 1, false);
		if (!item.v)
			break;
		value_add(r->a, v, item.v);
		raise(&height, item.height);
	}
	r->unsafe -= tag == TAG_UNSAFE;
	complete(an, r->nodes - before, height);
	return (struct node){ .v = v, .height = height };
}

/* A spec's key that would be something else than a text as a value is most likely a mistake, except
 * for integers. */
static bool check_key(struct reader *r, const struct node *key, struct pos p)
{
	struct value probe = { 0 };
	struct err e;

	if (key->v->kind == V_UNKNOWN) /* its own fault is noted */
		return false;
	if (key->v->kind == V_LIST || key->v->kind == V_MAP) {
		fault(r, p, "quote the text if it begins with '{' or '['", "%s cannot be a key",
		      value_kind_name(key->v->kind));
		return false;
	}
	if (key->v->kind != V_STR) { /* an alias of a number, or a tagged one */
		fault(r, p, "write the key out", "%s cannot be a key",
		      value_kind_name(key->v->kind));
		return false;
	}
	if (r->dialect == YAML_ANSIBLE || !key->plain)
		return true;
	if (yaml_scalar_spec(r->a, key->text, &probe, &e) != 0 || probe.kind == V_STR ||
	    probe.kind == V_INT)
		return true;
	fault(r, p, "quote the key", "the key is %s, not a text", value_kind_name(probe.kind));
	return false;
}

struct merges {
	VEC(const struct value *) maps;
};

static void note_merge(struct reader *r, struct merges *m, const struct value *v)
{
	if (v->kind == V_MAP) {
		VEC_ADD(r->a, &m->maps) = v;
		return;
	}
	for (size_t i = 0; v->kind == V_LIST && i < v->list.n; i++) {
		if (v->list.v[i]->kind != V_MAP)
			break;
		VEC_ADD(r->a, &m->maps) = v->list.v[i];
		if (i + 1 == v->list.n)
			return;
	}
	if (v->kind != V_UNKNOWN && (v->kind != V_LIST || v->list.n))
		fault(r, v->pos, "write <<: *name, or <<: [*one, *two]",
		      "'<<' takes a map or a list of maps");
}

static void put(struct value *map, struct str key, struct value *v, struct pos p)
{
	map_put(&map->map, key, v);
	map_find(&map->map, key)->pos = p;
}

/* The merged keys come first, as PyYAML orders them; an earlier map wins over a later one, and the
 * map's own keys over all. */
static void apply_merges(struct reader *r, struct value *v, const struct merges *m)
{
	struct map own = v->map;

	if (m->maps.n == 0)
		return;
	map_init(&v->map, r->a);
	for (size_t i = 0; i < m->maps.n; i++)
		for (size_t k = 0; k < m->maps.v[i]->map.n; k++) {
			const struct map_entry *e = &m->maps.v[i]->map.e[k];
			if (!map_has(&v->map, e->key))
				put(v, e->key, e->val, e->pos);
		}
	for (size_t k = 0; k < own.n; k++)
		put(v, own.e[k].key, own.e[k].val, own.e[k].pos);
}

static void add_entry(struct reader *r, struct value *map, struct merges *m, const struct node *key,
		      struct pos key_pos, struct value *v)
{
	const struct map_entry *first;

	if (key->plain && str_eqc(key->text, "<<")) {
		note_merge(r, m, v);
		return;
	}
	if (!check_key(r, key, key_pos))
		return;
	first = map_find(&map->map, key->text);
	if (first)
		fault(r, key_pos, "remove one of them, or merge the two",
		      "the key '" STR_FMT "' is there twice, first in line %d column %d",
		      STR_ARG(str_sub(key->text, 0, 100)), first->pos.line, first->pos.col);
	else
		put(map, key->text, v, key_pos);
}

/* One key and its value; false at the end of the map or when stopping. */
static bool read_entry(struct reader *r, struct value *map, struct merges *m, int depth,
		       int *height)
{
	scoped(yaml_event_delete) yaml_event_t key_ev = { 0 };
	scoped(yaml_event_delete) yaml_event_t ev = { 0 };
	struct node key, val;

	if (!next_event(r, &key_ev) || key_ev.type == YAML_MAPPING_END_EVENT)
		return false;
	key = read_node(r, &key_ev, depth + 1, true);
	if (!key.v || !next_event(r, &ev))
		return false;
	val = read_node(r, &ev, depth + 1, false);
	if (!val.v)
		return false;
	raise(height, val.height);
	add_entry(r, map, m, &key, pos_of(r, &key_ev), val.v);
	return true;
}

static struct node read_map(struct reader *r, const yaml_event_t *start, int depth)
{
	struct value *v = new_value(r, V_MAP, pos_of(r, start));
	enum tag tag = read_tag(r, start->data.mapping_start.tag, v->pos);
	struct anchor *an = add_anchor(r, start->data.mapping_start.anchor, v);
	struct merges merges = { 0 };
	size_t before = r->nodes;
	int height = 0;

	if (tag != TAG_NONE && tag != TAG_MAP && tag != TAG_UNSAFE && tag != TAG_BAD &&
	    tag != TAG_TEXT)
		fault(r, v->pos, "remove the tag", "the tag does not fit a map");
	r->unsafe += tag == TAG_UNSAFE;
	v->unsafe = r->unsafe > 0;
	count_nodes(r, v->pos, 1);
	while (read_entry(r, v, &merges, depth, &height))
		;
	r->unsafe -= tag == TAG_UNSAFE;
	apply_merges(r, v, &merges);
	complete(an, r->nodes - before, height);
	return (struct node){ .v = v, .height = height };
}

static struct node read_node(struct reader *r, const yaml_event_t *ev, int depth, bool is_key)
{
	if (too_deep(r, pos_of(r, ev), depth) || r->stop)
		return (struct node){ 0 };
	switch (ev->type) {
	case YAML_ALIAS_EVENT: return read_alias(r, ev, depth);
	case YAML_SCALAR_EVENT: return read_scalar(r, ev, is_key);
	case YAML_SEQUENCE_START_EVENT: return read_list(r, ev, depth);
	case YAML_MAPPING_START_EVENT: return read_map(r, ev, depth);
	default: bug("an unexpected YAML event %d", (int)ev->type);
	}
}

/* ---- documents ---- */

static void read_document(struct reader *r, struct value **out)
{
	scoped(yaml_event_delete) yaml_event_t root = { 0 };
	scoped(yaml_event_delete) yaml_event_t end = { 0 };

	if (!next_event(r, &root))
		return;
	*out = read_node(r, &root, 1, false).v;
	next_event(r, &end);
}

static void read_stream(struct reader *r, struct value **out)
{
	scoped(yaml_event_delete) yaml_event_t start = { 0 };
	scoped(yaml_event_delete) yaml_event_t doc = { 0 };
	scoped(yaml_event_delete) yaml_event_t more = { 0 };

	if (!next_event(r, &start) || !next_event(r, &doc))
		return;
	if (doc.type == YAML_STREAM_END_EVENT) {
		*out = new_value(r, V_NULL, (struct pos){ r->text.file, 1, 1 });
		return;
	}
	read_document(r, out);
	if (next_event(r, &more) && more.type != YAML_STREAM_END_EVENT)
		fault(r, pos_of(r, &more), "put each document into a file of its own",
		      "a second document begins here");
}

static void read_all(struct reader *r, struct value **out)
{
	struct err e;

	if (r->text.text.n > YAML_MAX_BYTES) {
		fault(r, (struct pos){ r->text.file, 1, 1 }, "split the file", "more than %zu MiB",
		      YAML_MAX_BYTES >> 20);
		return;
	}
	if (yaml_text_check(&r->text, &e) != 0) {
		fault_at(r, e.pos, &e);
		return;
	}
	if (!yaml_parser_initialize(&r->parser))
		mem_oom();
	yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r->parser, (const unsigned char *)r->text.text.p,
				     r->text.text.n);
	read_stream(r, out);
	yaml_parser_delete(&r->parser);
}

int yaml_parse(struct arena *a, const char *file, struct str text, enum yaml_dialect dialect,
	       struct value **out, struct err_list *errs)
{
	scoped(arena_freep) struct arena *scratch = arena_new("yaml");
	struct reader r = { .a = a, .dialect = dialect, .errs = errs };
	struct value *v = NULL;

	if (!text.p)
		text = STR("");
	/* a byte order mark, of editors that know no better */
	if (str_starts(text, "\xef\xbb\xbf"))
		text = str_sub(text, 3, SIZE_MAX);
	map_init(&r.anchors, scratch);
	yaml_text_init(&r.text, scratch, file,
		       text.n <= YAML_MAX_BYTES ? text : str_sub(text, 0, YAML_MAX_BYTES + 1));
	read_all(&r, &v);
	*out = r.stop ? NULL : v;
	return r.faults ? -1 : 0;
}

struct pos yaml_key_pos(const struct value *map, const char *key)
{
	const struct map_entry *e = map->kind == V_MAP ? map_find(&map->map, str_of(key)) : NULL;

	return e ? e->pos : (struct pos){ 0 };
}
