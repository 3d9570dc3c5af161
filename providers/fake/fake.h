/* SPDX-License-Identifier: Apache-2.0 */
/* providers/fake/fake.h - door of the fake provider: a cloud kept in a file, for tests and
 * demonstrations (README.md). */
#ifndef MUSTER_PROVIDERS_FAKE_FAKE_H
#define MUSTER_PROVIDERS_FAKE_FAKE_H

#include "providers/provider.h"

extern const struct provider_type fake_provider;

#endif
