/* SPDX-License-Identifier: Apache-2.0 */
/* Filters that encode, decode and digest. */
#include "templates/dumps.h"
#include "templates/filters.h"
#include "templates/jmespath.h"

/* (', ', ': ') */
static int separators(struct call *c, const struct value *v, struct dump_style *style)
{
	if (!v || v->kind == V_NULL)
		return 0;
	if (v->kind != V_LIST || v->list.n != 2 || v->list.v[0]->kind != V_STR ||
	    v->list.v[1]->kind != V_STR)
		return err_set(c->e, ERR_SPEC, "separators must be two texts");
	style->comma = v->list.v[0]->s;
	style->colon = v->list.v[1]->s;
	return 0;
}

/* c's arguments: indent, sort_keys, ensure_ascii, separators */
static const struct value *as_json(struct call *c, int64_t indent, bool sort)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct dump_style style = { .colon = STR(": "),
				    .sort = call_flag(c, 1, sort),
				    .ascii = call_flag(c, 2, true) };

	if (call_int(c, 0, indent, &style.indent) < 0)
		return NULL;
	if (style.indent > 64)
		return call_fault(c, "indent must be at most 64");
	if (c->arg[0] && c->arg[0]->kind != V_NULL && style.indent < 0)
		style.indent = 0;
	style.comma = style.indent < 0 ? STR(", ") : STR(",");
	if (separators(c, c->arg[3], &style) < 0)
		return NULL;
	buf_init(&b, OPS_MAX_TEXT);
	dump_json(&b, c->a, c->self, &style);
	return buf_check(&b, c->e) < 0 ? NULL : value_str(c->a, buf_str(&b));
}

static const struct value *f_to_json(struct call *c)
{
	return as_json(c, -1, false);
}

/* Jinja2's own: keys sorted, and nothing that HTML could take for markup. */
static const struct value *f_tojson(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	const struct value *v = as_json(c, -1, true);

	if (!v)
		return NULL;
	buf_init(&b, OPS_MAX_TEXT);
	for (size_t i = 0; i < v->s.n; i++) {
		if (v->s.p[i] && strchr("<>&'", v->s.p[i]))
			buf_addf(&b, "\\u%04x", (unsigned char)v->s.p[i]);
		else
			buf_addc(&b, v->s.p[i]);
	}
	return buf_check(&b, c->e) < 0 ? NULL : value_str(c->a, buf_str(&b));
}

static const struct value *f_to_nice_json(struct call *c)
{
	c->arg[3] = NULL; /* its separators are its own */
	return as_json(c, 4, true);
}

static const struct value *f_from_json(struct call *c)
{
	struct value *v;

	if (c->self->kind != V_STR)
		return call_fault(c, "from_json needs text, not %s", op_type_name(c->self));
	return json_parse(c->a, "from_json", c->self->s, &v, c->e) < 0 ? NULL : v;
}

static const struct value *f_json_query(struct call *c)
{
	struct jmespath_run run = { .a = c->a, .e = c->e };
	struct jmespath *j;

	if (jmespath_parse(c->a, call_text(c, 0, ""), &j, c->e) < 0)
		return NULL;
	return jmespath_ask(&run, j, c->self);
}

static const struct value *f_from_yaml(struct call *c)
{
	struct err_list errs = { 0 };
	struct value *v;

	if (c->self->kind != V_STR)
		return c->self;
	int rc = yaml_parse(c->a, "from_yaml", c->self->s, YAML_ANSIBLE, &v, &errs);
	if (rc < 0 && errs.n)
		call_fault(c, "not YAML: line %d: %s", errs.v[0].pos.line, errs.v[0].msg);
	else if (rc < 0)
		call_fault(c, "not YAML");
	err_list_fini(&errs);
	return rc < 0 ? NULL : v;
}

static const struct value *as_yaml(struct call *c, struct yaml_style st)
{
	scoped(buf_wipe) struct buf b = { 0 };
	const struct value *flow = c->arg[2];
	int64_t indent, width;

	if (call_int(c, 0, st.indent, &indent) < 0 || call_int(c, 3, st.width, &width) < 0)
		return NULL;
	st.indent = (int)(indent < 2 || indent > 9 ? 2 : indent);
	st.width = (int)(width > 1000000 ? 1000000 : width);
	st.sort = call_flag(c, 1, true);
	if (flow && flow->kind == V_BOOL)
		st.flow = flow->b ? YAML_FLOW : YAML_BLOCK;
	else if (flow)
		st.flow = YAML_MIXED;
	st.explicit_start = call_flag(c, 4, false);
	st.escape_unicode = !call_flag(c, 5, true);
	st.explicit_end = call_flag(c, 6, false);
	st.quote = call_text(c, 7, "").n == 1 ? call_text(c, 7, "").p[0] : 0;
	if (st.quote && !flow)
		st.flow = YAML_BLOCK;
	buf_init(&b, OPS_MAX_TEXT);
	return yaml_emit(&b, c->self, &st, c->e) < 0 ? NULL : value_str(c->a, buf_str(&b));
}

static const struct value *f_to_yaml(struct call *c)
{
	return as_yaml(c, (struct yaml_style){ .indent = 2, .width = 80, .flow = YAML_MIXED });
}

static const struct value *f_to_nice_yaml(struct call *c)
{
	return as_yaml(c, (struct yaml_style){ .indent = 4, .width = 80 });
}

/* Each document of the text. */
static const struct value *f_from_yaml_all(struct call *c)
{
	struct value *out = value_list(c->a);
	struct str rest = op_text(c->a, c->self), line;
	bool empty = !str_trim(rest).n;
	struct call one = *c;
	struct buf doc = { 0 };
	const struct value *v;
	bool more = true, any = false;

	buf_init(&doc, OPS_MAX_TEXT);
	while (more && !empty) {
		more = str_next(&rest, '\n', &line);
		bool mark = more && (str_eqc(line, "---") || str_starts(line, "--- "));
		if (!more || (mark && any)) {
			one.self = value_str(c->a, buf_str(&doc));
			if (!(v = f_from_yaml(&one)))
				break;
			value_add(c->a, out, v);
			doc.n = 0;
		}
		if (more) {
			buf_addstr(&doc, line);
			buf_addc(&doc, '\n');
			any = any || str_trim(line).n;
		}
	}
	buf_fini(&doc);
	return more && !empty ? NULL : out;
}

static const struct value *f_b64encode(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };

	buf_init(&b, OPS_MAX_TEXT);
	base64_encode(&b, op_text(c->a, c->self));
	return buf_check(&b, c->e) < 0 ? NULL : value_str(c->a, buf_str(&b));
}

static const struct value *f_b64decode(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };

	buf_init(&b, OPS_MAX_TEXT);
	if (base64_decode(&b, op_text(c->a, c->self), c->e) < 0)
		return NULL;
	if (!str_is_utf8(buf_str(&b)))
		return call_fault(c, "the decoded bytes are not UTF-8 text");
	return value_str(c->a, buf_str(&b));
}

static const struct value *digest(struct call *c, struct str kind)
{
	uint8_t out[HASH_MAX];
	struct str s = op_text(c->a, c->self);
	scoped(buf_fini) struct buf b = { 0 };
	size_t n = hash_named(arena_dup(c->a, kind.p, kind.n), s, out);

	if (!n)
		return call_fault(c, "there is no digest \"" STR_FMT "\"", STR_ARG(kind));
	buf_init(&b, BUF_MAX_DEFAULT);
	hex_encode(&b, (struct str){ (const char *)out, n });
	return value_str(c->a, buf_str(&b));
}

static const struct value *f_md5(struct call *c)
{
	return digest(c, STR("md5"));
}

/* A UUID of the text (version 5) in a namespace; Ansible's own without one. */
static const struct value *f_to_uuid(struct call *c)
{
	struct str space = call_text(c, 0, "361e6d51-faec-444a-9079-341386da8e2e"),
		   s = op_text(c->a, c->self);
	uint8_t out[HASH_MAX];
	scoped(buf_fini) struct buf b = { 0 };
	uint64_t byte;

	buf_init(&b, OPS_MAX_TEXT);
	for (size_t i = 0; i < space.n; i++) {
		if (space.p[i] == '-')
			continue;
		if (!str_to_uint(str_sub(space, i, i + 2), 16, &byte))
			return call_fault(c, "\"" STR_FMT "\" is no UUID", STR_ARG(space));
		buf_addc(&b, (char)byte);
		i++;
	}
	if (b.n != 16)
		return call_fault(c, "\"" STR_FMT "\" is no UUID", STR_ARG(space));
	buf_addstr(&b, s);
	if (!hash_named("sha1", buf_str(&b), out))
		return call_fault(c, "the digest failed");
	out[6] = (unsigned char)((out[6] & 0x0f) | 0x50);
	out[8] = (unsigned char)((out[8] & 0x3f) | 0x80);
	return value_strf(c->a,
			  "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
			  out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7], out[8],
			  out[9], out[10], out[11], out[12], out[13], out[14], out[15]);
}

static const struct value *f_hash(struct call *c)
{
	return digest(c, call_text(c, 0, "sha1"));
}

static const struct value *f_checksum(struct call *c)
{
	return digest(c, STR("sha1"));
}

static const struct value *f_type_debug(struct call *c)
{
	return value_cstr(c->a, op_type_name(c->self));
}

#define YAML_PARAMETERS                                                                        \
	"indent,sort_keys,default_flow_style,width,explicit_start,allow_unicode,explicit_end," \
	"default_style"

const struct callable filters_data[] = {
	{ "to_json", f_to_json, "indent,sort_keys,ensure_ascii,separators", 0 },
	{ "tojson", f_tojson, "indent", 0 },
	{ "to_nice_json", f_to_nice_json, "indent,sort_keys,ensure_ascii,separators", 0 },
	{ "from_json", f_from_json, "", 0 },
	{ "json_query", f_json_query, "expr!", 0 },
	{ "from_yaml", f_from_yaml, "", 0 },
	{ "from_yaml_all", f_from_yaml_all, "", 0 },
	{ "to_yaml", f_to_yaml, YAML_PARAMETERS, 0 },
	{ "to_nice_yaml", f_to_nice_yaml, YAML_PARAMETERS, 0 },
	{ "b64encode", f_b64encode, "", 0 },
	{ "b64decode", f_b64decode, "", 0 },
	{ "hash", f_hash, "hashtype", 0 },
	{ "checksum", f_checksum, "", 0 },
	{ "sha1", f_checksum, "", 0 },
	{ "md5", f_md5, "", 0 },
	{ "to_uuid", f_to_uuid, "namespace", 0 },
	{ "type_debug", f_type_debug, "", CALL_UNDEFINED },
	{ NULL, NULL, NULL, 0 },
};
