#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/bench/template.sh - the template engine against Jinja2 on CPython, the same templates and values in the same run: a hosts and slurm.conf
# template of some 2,000 lines over 1,000 nodes (and over 4,000: linear?), and 100,000 small conditions. Jinja2's templates are compiled once,
# as ours are kept; only rendering and evaluating is counted, in CPU time.
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

ours=$TEST_BUILD/tests/bench/template_run
peer=$top/tests/bench/template_peer.py
python=${BENCH_PYTHON:-python3}
has_peer=
"$python" -c 'import jinja2' 2>/dev/null && has_peer=1
[ "$has_peer" ] || echo "  jinja2: skipped, not installed"

# best CASE COMMAND...: the least CPU seconds of three runs into $cpu; the sum into $sum
best() {
	local out
	cpu=
	for _ in 1 2 3; do
		out=$("$@") || { failed=1; return; }
		sum=${out#* }
		cpu=$(awk -v a="${out% *}" -v b="${cpu:-1e9}" 'BEGIN { print a < b ? a : b }')
	done
}

part() { # part KIND N LABEL
	local case=$work/$1-$2.json mine
	python3 "$peer" make "$1" "$2" "$case"
	best "$ours" "$case"
	mine=$cpu our_sum=$sum
	printf '  %-10s %-40s cpu %8.4f s\n' muster "$3" "$mine"
	ours_cpu=$mine
	[ "$has_peer" ] || return
	best "$python" "$peer" run "$case"
	printf '  %-10s %-40s cpu %8.4f s\n' jinja2 "$3" "$cpu"
	[ "$our_sum" = "$sum" ] || { echo "  the results differ: $our_sum, $sum"; failed=1; }
	times=$(ratio "$cpu" "$mine")
}

part hosts 4000 "4,000 nodes, 20 times"
four=$ours_cpu
part hosts 1000 "1,000 nodes, 20 times"
# More nodes than a cache holds: not just four times the time, but no square (16) either.
below "4,000 nodes to 1,000" "$(ratio "$four" "$ours_cpu")" 9
[ -z "$has_peer" ] || wants "rendering, times faster" "$times" 1.5
part conditions 100000 "100,000 conditions"
[ -z "$has_peer" ] || wants "conditions, times faster" "$times" 10
exit $failed
