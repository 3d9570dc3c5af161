/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values to YAML through libyaml's emitter, which is also PyYAML's: so the bytes are the same as
 * Ansible's to_yaml. Which text needs quotes is the resolver's word: what would read as another
 * type.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <math.h>
#include <pcre2.h>
#include <stdlib.h>
#include <yaml.h>

#include "base/err.h"
#include "base/json.h"
#include "base/yaml.h"

struct emitting {
	yaml_emitter_t emitter;
	const struct yaml_style *style;
	struct arena *a;
	struct map seen; /* address of a list or map -> struct shared */
	int anchors;
};

struct shared {
	int id; /* 0: it is there once */
	bool written;
};

static int write_out(void *arg, unsigned char *text, size_t n)
{
	struct buf *b = arg;

	buf_addstr(b, (struct str){ (const char *)text, n });
	return !b->overflow;
}

/* YAML 1.1's implicit types. */
static const char implicit[] =
	"^(?:"
	"yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF"
	"|~|null|Null|NULL|"
	"|<<|="
	"|[-+]?(?:[0-9][0-9_]*)\\.[0-9_]*(?:[eE][-+][0-9]+)?|\\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
	"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\\.[0-9_]*|[-+]?\\.(?:inf|Inf|INF)|\\.(?:nan|NaN|NAN)"
	"|[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+"
	"|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+"
	"|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?(?:[Tt]|[ \\t]+)[0-9][0-9]?:[0-9]{2}:[0-9]{2}"
	"(?:\\.[0-9]*)?(?:[ \\t]*(?:Z|[-+][0-9][0-9]?(?::[0-9][0-9])?))?"
	")$";

static bool reads_as_other_type(struct str s)
{
	static pcre2_code *code;
	pcre2_match_data *md;
	PCRE2_SIZE at;
	int error, rc;

	if (s.n > 60)
		return false;
	if (!code)
		code = pcre2_compile((PCRE2_SPTR)implicit, PCRE2_ZERO_TERMINATED,
				     PCRE2_DOLLAR_ENDONLY, &error, &at, NULL);
	if (!code)
		bug("the pattern of YAML's types");
	md = pcre2_match_data_create(1, NULL);
	rc = md ? pcre2_match(code, (PCRE2_SPTR)s.p, s.n, 0, 0, md, NULL) : 0;
	pcre2_match_data_free(md);
	return rc > 0;
}

static bool emit(struct emitting *m, yaml_event_t *event, int made)
{
	return made && yaml_emitter_emit(&m->emitter, event);
}

static yaml_scalar_style_t scalar_style(char quote)
{
	switch (quote) {
	case '"': return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
	case '\'': return YAML_SINGLE_QUOTED_SCALAR_STYLE;
	case '|': return YAML_LITERAL_SCALAR_STYLE;
	case '>': return YAML_FOLDED_SCALAR_STYLE;
	default: return YAML_ANY_SCALAR_STYLE;
	}
}

static bool emit_scalar(struct emitting *m, struct str s, bool plain)
{
	yaml_event_t event;

	return emit(m, &event,
		    yaml_scalar_event_initialize(&event, NULL,
						 (yaml_char_t *)"tag:yaml.org,2002:str",
						 (yaml_char_t *)(uintptr_t)s.p, (int)s.n, plain,
						 true, scalar_style(m->style->quote)));
}

/* ---- what is there twice -------------------------------------------------------------------- */

static struct shared *shared_get(struct emitting *m, const struct value *v)
{
	return map_get(&m->seen, (struct str){ (const char *)&v, sizeof v });
}

static int by_key(const void *x, const void *y)
{
	const struct map_entry *const *a = x, *const *b = y;

	return str_cmp((*a)->key, (*b)->key);
}

static bool key_number(struct str key, double *f)
{
	struct str s = json_key(key);

	*f = str_eqc(s, "true");
	return *f == 1 || str_eqc(s, "false") || str_to_double(s, f);
}

static int by_number(const void *x, const void *y)
{
	const struct map_entry *const *a = x, *const *b = y;
	double p = 0, q = 0;

	key_number((*a)->key, &p);
	key_number((*b)->key, &q);
	return p < q ? -1 : p > q;
}

/* Texts among themselves and numbers among themselves have an order; else the map's own stays. */
static int (*order_of(const struct value *v))(const void *, const void *)
{
	size_t texts = 0, numbers = 0;
	double f;

	for (size_t i = 0; i < v->map.n; i++) {
		bool text = value_key_is_text(v->map.e[i].key);
		texts += text;
		numbers += !text && key_number(v->map.e[i].key, &f);
	}
	return texts == v->map.n ? by_key : numbers == v->map.n ? by_number : NULL;
}

/* The entries in the order in which they are written. */
static const struct map_entry **ordered(struct emitting *m, const struct value *v)
{
	const struct map_entry **order = arena_array(m->a, const struct map_entry *, v->map.n + 1);

	for (size_t i = 0; i < v->map.n; i++)
		order[i] = &v->map.e[i];
	if (m->style->sort && v->map.n && order_of(v))
		qsort(order, v->map.n, sizeof(struct map_entry *), order_of(v));
	return order;
}

/* Anchors are numbered in the order in which things are met again. */
static void note(struct emitting *m, const struct value *v)
{
	struct shared *s;

	if (v->kind != V_LIST && v->kind != V_MAP)
		return;
	s = shared_get(m, v);
	if (s) {
		s->id = s->id ? s->id : ++m->anchors;
		return;
	}
	struct str key = str_dup(m->a, (struct str){ (const char *)&v, sizeof v });
	map_put(&m->seen, key, arena_array(m->a, struct shared, 1));
	for (size_t i = 0; v->kind == V_LIST && i < v->list.n; i++)
		note(m, v->list.v[i]);
	if (v->kind != V_MAP)
		return;
	const struct map_entry **order = ordered(m, v);
	for (size_t i = 0; i < v->map.n; i++)
		note(m, order[i]->val);
}

/* The anchor of a list or map, or NULL; *alias: it was written before. */
static yaml_char_t *anchor(struct emitting *m, const struct value *v, bool *alias)
{
	struct shared *s = shared_get(m, v);

	*alias = s && s->id && s->written;
	if (!s || !s->id)
		return NULL;
	s->written = true;
	return (yaml_char_t *)arena_printf(m->a, "id%03d", s->id);
}

/* ---- values --------------------------------------------------------------------------------- */

/* What is no text: quoted, it is tagged so that it reads as its type. */
static bool emit_other(struct emitting *m, struct str s)
{
	yaml_event_t event;

	if (!m->style->quote)
		return emit_scalar(m, s, true);
	return emit(m, &event,
		    yaml_scalar_event_initialize(&event, NULL, NULL, (yaml_char_t *)(uintptr_t)s.p,
						 (int)s.n, true, false,
						 scalar_style(m->style->quote)));
}

static bool emit_float(struct emitting *m, double f, struct str text)
{
	char number[STR_DOUBLE_LEN + 4];
	const char *e = memchr(text.p, 'e', text.n);

	if (isnan(f))
		return emit_other(m, STR(".nan"));
	if (isinf(f))
		return emit_other(m, f < 0 ? STR("-.inf") : STR(".inf"));
	if (!e || memchr(text.p, '.', text.n))
		return emit_other(m, text);
	/* YAML 1.1 reads 1e5 as text */
	size_t n = (size_t)(e - text.p);
	memcpy(number, text.p, n);
	memcpy(number + n, ".0", 2);
	memcpy(number + n + 2, e, text.n - n);
	return emit_other(m, (struct str){ number, text.n + 2 });
}

static bool emit_value(struct emitting *m, const struct value *v);

static bool is_plain_scalar(const struct value *v)
{
	return v->kind != V_LIST && v->kind != V_MAP;
}

static bool in_flow(const struct emitting *m, const struct value *v)
{
	if (m->style->flow != YAML_MIXED)
		return m->style->flow == YAML_FLOW;
	for (size_t i = 0; v->kind == V_LIST && i < v->list.n; i++)
		if (!is_plain_scalar(v->list.v[i]))
			return false;
	for (size_t i = 0; v->kind == V_MAP && i < v->map.n; i++)
		if (!is_plain_scalar(v->map.e[i].val))
			return false;
	return true;
}

static bool emit_list(struct emitting *m, const struct value *v)
{
	yaml_event_t event;
	bool alias;
	yaml_char_t *name = anchor(m, v, &alias);

	if (alias)
		return emit(m, &event, yaml_alias_event_initialize(&event, name));
	if (!emit(m, &event,
		  yaml_sequence_start_event_initialize(&event, name, NULL, true,
						       in_flow(m, v) ? YAML_FLOW_SEQUENCE_STYLE
								     : YAML_BLOCK_SEQUENCE_STYLE)))
		return false;
	for (size_t i = 0; i < v->list.n; i++)
		if (!emit_value(m, v->list.v[i]))
			return false;
	return emit(m, &event, yaml_sequence_end_event_initialize(&event));
}

static bool emit_key(struct emitting *m, struct str key)
{
	if (value_key_is_text(key))
		return emit_scalar(m, key, !reads_as_other_type(key));
	return emit_scalar(m, json_key(key), true);
}

static bool emit_map(struct emitting *m, const struct value *v)
{
	const struct map_entry **order = ordered(m, v);
	yaml_event_t event;
	bool ok, alias;
	yaml_char_t *name = anchor(m, v, &alias);

	if (alias)
		return emit(m, &event, yaml_alias_event_initialize(&event, name));
	ok = emit(m, &event,
		  yaml_mapping_start_event_initialize(&event, name, NULL, true,
						      in_flow(m, v) ? YAML_FLOW_MAPPING_STYLE
								    : YAML_BLOCK_MAPPING_STYLE));
	for (size_t i = 0; ok && i < v->map.n; i++)
		ok = emit_key(m, order[i]->key) && emit_value(m, order[i]->val);
	return ok && emit(m, &event, yaml_mapping_end_event_initialize(&event));
}

static bool emit_value(struct emitting *m, const struct value *v)
{
	scoped(buf_wipe) struct buf b = { 0 };

	switch (v->kind) {
	case V_LIST: return emit_list(m, v);
	case V_MAP: return emit_map(m, v);
	case V_STR: return emit_scalar(m, v->s, !reads_as_other_type(v->s));
	case V_NULL: return emit_other(m, STR("null"));
	case V_BOOL: return emit_other(m, v->b ? STR("true") : STR("false"));
	default: break;
	}
	buf_init(&b, BUF_MAX_DEFAULT);
	value_reveal(&b, v);
	return v->kind == V_FLOAT ? emit_float(m, v->f, buf_str(&b)) : emit_other(m, buf_str(&b));
}

int yaml_emit(struct buf *b, const struct value *v, const struct yaml_style *style, struct err *e)
{
	struct arena *a scoped(arena_freep) = arena_new("yaml_emit");
	struct emitting m = { .style = style, .a = a };
	yaml_event_t event;
	bool ok;

	if (!yaml_emitter_initialize(&m.emitter))
		mem_oom();
	map_init(&m.seen, a);
	note(&m, v);
	yaml_emitter_set_output(&m.emitter, write_out, b);
	yaml_emitter_set_unicode(&m.emitter, !style->escape_unicode);
	yaml_emitter_set_indent(&m.emitter, style->indent);
	yaml_emitter_set_width(&m.emitter, style->width);
	ok = emit(&m, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING)) &&
	     emit(&m, &event,
		  yaml_document_start_event_initialize(&event, NULL, NULL, NULL,
						       !style->explicit_start)) &&
	     emit_value(&m, v) &&
	     emit(&m, &event, yaml_document_end_event_initialize(&event, !style->explicit_end)) &&
	     emit(&m, &event, yaml_stream_end_event_initialize(&event)) &&
	     yaml_emitter_flush(&m.emitter);
	if (!ok && !e->kind)
		err_set(e, ERR_SPEC, "not written as YAML: %s",
			m.emitter.problem ? m.emitter.problem : "the text is too long");
	yaml_emitter_delete(&m.emitter);
	return ok ? 0 : -1;
}
