/* SPDX-License-Identifier: Apache-2.0 */
/* providers/options.h - what the `open` of several providers needs: their options as a struct. For
 * providers only. */
#ifndef MUSTER_PROVIDERS_OPTIONS_H
#define MUSTER_PROVIDERS_OPTIONS_H

#include "providers/provider.h"

/* Decodes the provider's keys in the spec by its rows; the first fault becomes *e (the spec loader
 * has reported all of them before). */
must_check int provider_options(struct arena *a, const struct provider_open *o,
				const struct field *rows, void *obj, struct err *e);

#endif
