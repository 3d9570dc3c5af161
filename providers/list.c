/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/providers.h"

#include "providers/fake/fake.h"
#include "providers/list.h"
#include "providers/local/local.h"
#include "providers/local/proxy.h"
#include "providers/local/supervisor.h"
#include "providers/ssh/ssh.h"

#define ROW(name) &name##_provider,

const struct provider_type *const provider_types[] = { PROVIDER_LIST(ROW) NULL };

const struct provider_type *provider_type_find(struct str type)
{
	for (size_t i = 0; provider_types[i]; i++)
		if (str_eqc(type, provider_types[i]->name))
			return provider_types[i];
	return NULL;
}

static const struct helper {
	const char *name;
	int (*main)(int argc, char **argv);
} helpers[] = {
	{ "local-host", local_host_main },
	{ "local-proxy", local_proxy_main },
};

int provider_helper(int argc, char **argv, struct err *e)
{
	for (size_t i = 0; argc > 0 && i < ARRAY_LEN(helpers); i++)
		if (strcmp(argv[0], helpers[i].name) == 0)
			return helpers[i].main(argc, argv);
	return err_set(e, ERR_USAGE, "there is no helper \"%s\"", argc > 0 ? argv[0] : "");
}
