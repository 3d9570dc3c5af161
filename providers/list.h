/* SPDX-License-Identifier: Apache-2.0 */
/*
 * providers/list.h - every provider, one row each, in the order that help and the manual show them.
 *
 * A row X(name) stands for the table `name_provider`, which providers/name/name.h declares.
 */
#ifndef MUSTER_PROVIDERS_LIST_H
#define MUSTER_PROVIDERS_LIST_H

#define PROVIDER_LIST(X) \
	X(ssh)           \
	X(local)         \
	X(fake)

#endif
