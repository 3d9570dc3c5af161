/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/providers.h"

#include "providers/fake/fake.h"
#include "providers/list.h"
#include "providers/local/local.h"
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
