/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that exists. "Creating" it only records that it is now ours to look after, and
 * "destroying" it forgets it: whether it answers is found out by the login that follows, which
 * reports it far better than a bare connect here could. So nothing here waits or fails for a reason
 * outside.
 *
 * There is no list and no truth at a provider to ask, so what was recorded is taken as seen, and
 * find answers with "no": taking a machine in twice has no effect, so repeating it is always safe.
 */
#include "providers/ssh/ssh.h"

struct ssh_attrs {
	struct obj obj;
	struct str host;
	struct str address;
	int64_t port;
	struct str user;
};

static const struct field machine_fields[] = {
	FIELD(ssh_attrs, host, F_STR, FIELD_REQUIRED | FIELD_FIXED, NULL, NULL,
	      "name or address of the machine, as in `hosts`"),
	FIELD(ssh_attrs, address, F_STR, FIELD_COMPUTED, NULL, NULL, "where muster connects to"),
	FIELD(ssh_attrs, port, F_INT, FIELD_COMPUTED, NULL, NULL,
	      "TCP port of sshd, where it is not the usual one"),
	FIELD(ssh_attrs, user, F_STR, FIELD_COMPUTED, NULL, NULL,
	      "login name, where `hosts` names one"),
	FIELD_END,
};

struct place {
	struct str user, host;
	int64_t port;
};

/* "[user@]host[:port]"; an IPv6 address with a port is written [addr]:port. */
static int place_parse(struct str text, struct place *out, struct err *e)
{
	struct str s = str_trim(text);
	*out = (struct place){ 0 };
	size_t at = str_find_char(s, '@');
	if (at != SIZE_MAX) {
		out->user = str_sub(s, 0, at);
		s = str_sub(s, at + 1, SIZE_MAX);
		if (!out->user.n)
			return err_set(e, ERR_SPEC, "host '" STR_FMT "' has an empty user name",
				       STR_ARG(text));
	}
	struct str port = STR_NONE;
	size_t end = str_find_char(s, ']');
	size_t colon = str_find_char(s, ':');
	if (str_starts(s, "[") && end != SIZE_MAX) {
		out->host = str_sub(s, 1, end);
		port = str_sub(s, end + 1, SIZE_MAX);
	} else if (colon != SIZE_MAX &&
		   str_find_char(str_sub(s, colon + 1, SIZE_MAX), ':') == SIZE_MAX) {
		out->host = str_sub(s, 0, colon);
		port = str_sub(s, colon, SIZE_MAX);
	} else {
		out->host = s; /* no colon, or several: a bare IPv6 address */
	}
	if (port.n &&
	    (!str_starts(port, ":") || !str_to_int(str_sub(port, 1, SIZE_MAX), &out->port) ||
	     out->port < 1 || out->port > 65535))
		return err_set(e, ERR_SPEC, "host '" STR_FMT "' has a bad port", STR_ARG(text));
	if (!out->host.n)
		return err_set(e, ERR_SPEC, "host '" STR_FMT "' has no name", STR_ARG(text));
	/* The ssh client reads a leading dash as an option: such a name is never a machine. */
	if (out->host.p[0] == '-' || (out->user.n && out->user.p[0] == '-'))
		return err_set(e, ERR_SPEC, "host '" STR_FMT "' begins with a dash", STR_ARG(text));
	return 0;
}

static int machine_create(struct provider *p unused_arg, struct arena *a,
			  const struct resource_want *w, struct resource_seen **out, struct err *e)
{
	struct str host = value_get_str(w->attrs, "host", w->name);
	struct place at;
	if (place_parse(host, &at, e))
		return -1;
	struct value *attrs = value_copy(a, w->attrs);
	value_set(attrs, "host", value_str(a, host));
	value_set(attrs, "address", value_str(a, at.host));
	if (at.port)
		value_set(attrs, "port", value_int(a, at.port));
	if (at.user.n)
		value_set(attrs, "user", value_str(a, at.user));
	struct resource_seen *s = arena_obj(a, struct resource_seen);
	s->addr = arena_strdup(a, w->addr);
	s->id = str_cstr(a, host);
	s->name = arena_strdup(a, w->name);
	s->token = arena_strdup(a, w->token);
	s->attrs = attrs;
	s->status = "running";
	*out = s;
	return 0;
}

static int machine_update(struct provider *p, struct arena *a, const char *id unused_arg,
			  const struct resource_want *w, struct resource_seen **out, struct err *e)
{
	return machine_create(p, a, w, out, e);
}

static int machine_destroy(struct provider *p unused_arg, const char *id unused_arg,
			   struct err *e unused_arg)
{
	return 0; /* forgotten by the state; the machine itself is not ours to touch */
}

static int machine_find(struct provider *p unused_arg, struct arena *a unused_arg,
			const char *token unused_arg, struct resource_seen **out,
			struct err *e unused_arg)
{
	*out = NULL;
	return 0;
}

static int machine_reach(struct provider *p unused_arg, struct arena *a,
			 const struct resource_seen *seen, struct ssh_target *t, struct err *e)
{
	struct place at;
	if (place_parse(value_get_str(seen->attrs, "host", seen->id), &at, e))
		return -1;
	t->host = str_cstr(a, at.host);
	if (at.port)
		t->port = (int)at.port;
	if (at.user.n)
		t->user = str_cstr(a, at.user);
	return 0;
}

const struct resource_type ssh_machine = {
	.kind = "machine",
	.fields = machine_fields,
	.create_timeout_ms = 10000,
	.delete_timeout_ms = 10000,
	.create = machine_create,
	.update = machine_update,
	.destroy = machine_destroy,
	.find = machine_find,
	.reach = machine_reach,
};
