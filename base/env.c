/* SPDX-License-Identifier: Apache-2.0 */
#include "base/env.h"

#include <string.h>

#include "base/arena.h"

struct override {
	struct override *next;
	char *name;
	char *value; /* NULL: removed */
};

static char *const *block;
static struct override *overrides;

void env_init(char *const *environ_block)
{
	block = environ_block;
}

static struct override *find(const char *name)
{
	struct override *o = overrides;

	while (o && strcmp(o->name, name) != 0)
		o = o->next;
	return o;
}

const char *env_get(const char *name)
{
	const struct override *o = find(name);
	size_t n = strlen(name);

	if (o)
		return o->value && o->value[0] ? o->value : NULL;
	for (size_t i = 0; block && block[i]; i++)
		if (strncmp(block[i], name, n) == 0 && block[i][n] == '=')
			return block[i][n + 1] ? block[i] + n + 1 : NULL;
	return NULL;
}

static char *copy(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(mem_alloc(n), s, n);
}

void env_set(const char *name, const char *value)
{
	struct override *o = find(name);
	char *old;

	if (!o) {
		o = mem_alloc(sizeof(*o));
		o->name = copy(name);
		o->next = overrides;
		overrides = o;
	}
	old = o->value;
	o->value = value ? copy(value) : NULL;
	mem_free(old);
}

void env_fini(void)
{
	while (overrides) {
		struct override *o = overrides;
		overrides = o->next;
		mem_free(o->name);
		mem_free(o->value);
		mem_free(o);
	}
	block = NULL;
}
