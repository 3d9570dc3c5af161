/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/absence.h - a deletion is believed when a list shows the object no more. One list for each
 * provider and kind, whatever the number of objects.
 */
#ifndef MUSTER_ENGINE_ABSENCE_H
#define MUSTER_ENGINE_ABSENCE_H

#include "engine/ask.h"

/* Something that its provider says is deleted. */
struct absentee {
	struct served at;
	const char *id;
	void *item;   /* the caller's */
	bool asked;   /* a list came back after the deletion */
	bool present; /* and still shows it */
};
struct absentees {
	VEC(struct absentee *) v;
};

void absence_add(struct arena *a, struct absentees *l, const struct served *at, const char *id,
		 void *item);
/* Lists until none is there, or until their types say that none may linger any more. Objects of
 * providers that can't list are not asked about. -1: cancelled. */
must_check int absence_check(struct engine *en, struct absentees *l, struct err *e);

#endif
