/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory/inventory.h - front door of what should be: the spec language and the fleet that a spec
 * expands to.
 */
#ifndef MUSTER_INVENTORY_INVENTORY_H
#define MUSTER_INVENTORY_INVENTORY_H

#include "inventory/ansible.h"
#include "inventory/field.h"
#include "inventory/fleet.h"
#include "inventory/hostlist.h"
#include "inventory/secret.h"
#include "inventory/select.h"
#include "inventory/spec.h"

#endif
