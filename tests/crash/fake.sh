#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests/crash/fake.sh [N] [SEED] - kill -9 at N random moments of apply and destroy on the fake cloud.
#
# After each kill (sometimes two or three in a row) the next run must converge: an empty plan, every object of the cloud in the state
# and nothing else there, no open intent, no lease held. See lib.sh.
set -u
# shellcheck source=tests/crash/lib.sh
. "$(dirname "$0")/lib.sh"
begin 60 260 20 600 "${1:-200}" "${2-}"

spec() { # spec WEB GPU SIZE
	cat >muster.yaml <<-END
	cluster: crash
	providers:
	  cloud: {type: fake, create_ms: 20, update_ms: 10, delete_ms: 15, list_ms: 2, lose_reply: 9}
	pools:
	  web: {provider: cloud, count: $1, image: debian-12, machine: $3}
	  gpu: {provider: cloud, count: $2, image: debian-12, machine: h100}
	END
}

check_converged() { # check_converged OBJECTS
	check_quiet
	run state list --json || die "state list failed"
	have=$(grep -o '"address"\|"addr"' out | wc -l)
	[ "$have" -eq "$1" ] || die "$have objects in the state, not $1"
	if command -v sqlite3 >/dev/null; then
		there=$(sqlite3 .muster/fake-cloud.db 'select count(*) from object')
		[ "$there" -eq "$1" ] || die "$there objects in the cloud, not $1"
	fi
}

while [ "$kills" -lt "$n" ]; do
	next_round
	draw 8; web=$drawn # ten nodes at most: more must be named to destroy
	draw 4; gpu=$drawn
	draw 2; size=small; [ "$drawn" -eq 0 ] || size=large
	draw 3; times=$((drawn + 1))
	spec "$web" "$gpu" "$size"
	while [ "$times" -gt 0 ]; do
		times=$((times - 1))
		draw "$span"; ms=$drawn
		draw 10
		if [ "$drawn" -lt 7 ]; then
			kill_during "$ms" apply --yes --parallel 4
		else
			kill_during "$ms" destroy --yes --parallel 4
		fi
	done
	draw 4
	if [ "$drawn" -eq 0 ]; then
		run destroy --yes || die "destroy after a kill failed"
	fi
	run apply --yes || die "apply after a kill failed"
	total=$((web + gpu + 1))
	check_converged "$total"
done
finish
