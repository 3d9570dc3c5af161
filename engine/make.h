/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/make.h - steps on objects: create, update, delete, forget. Each is intent, act, outcome,
 * with the one policy of repetition: BUSY is tried again within the type's time; a lost reply is
 * looked up by its token before anything is repeated.
 */
#ifndef MUSTER_ENGINE_MAKE_H
#define MUSTER_ENGINE_MAKE_H

#include "engine/ask.h"
#include "engine/work.h"

/* a: the step's arena. On -1 the journal has been settled as well as it could be, unless the error
 * is the journal's own. */
must_check int make_create(struct work *w, struct arena *a, const struct change *c, struct err *e);
must_check int make_update(struct work *w, struct arena *a, const struct change *c, struct err *e);
must_check int make_delete(struct work *w, struct arena *a, const struct change *c, struct err *e);
must_check int make_forget(struct work *w, struct arena *a, const struct change *c, struct err *e);
/* What the run has deleted is no more in any list; else its record comes back, and the run has
 * failed steps. */
must_check int make_read_back(struct work *w, struct err *e);
/* Until it is gone, within the type's time; an absent object is success. Also for recover and gc. */
must_check int make_gone(struct engine *en, const struct served *at, const char *id, struct err *e);
/* How much longer what the row asked for may appear; 0: what is not there by now never will. It
 * counts from when somebody found the step's run gone, not from the intent: a request may leave
 * long after that, when the provider was busy. */
int64_t make_may_appear_ms(const struct served *at, const struct journal_row *row, int64_t now_ms);
/* All that an update asked for is there, and nothing that it took away. was: what had been asked
 * for before. */
bool make_is_as_asked(const struct value *want, const struct value *was,
		      const struct resource_seen *seen);
/* find, asked again while the provider is busy. */
must_check int make_find(struct engine *en, struct arena *a, const struct journal_row *row,
			 struct resource_seen **out, struct err *e);

#endif
