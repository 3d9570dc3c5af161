#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/bench/scale.sh - the engine by the number of objects, on the fake cloud (no network, one machine an object): plan from empty, apply,
# no-op plan, a plan of one change on all, against terraform with the same number of `terraform_data` (one `count = N` resource, local state) in the
# same run; then what muster promises at 10,000.
#
# "Ten steps a node": creating, then nine rounds that change a label of every node in place; each is a journalled step (intent, call, outcome) of its own.
# terraform needs hours for what muster does in seconds: each of its commands is stopped after BENCH_PEER_SECONDS (20), and its larger
# sizes are only tried with BENCH_FULL=1. Promises in seconds are held against CPU, not wall time: machines of CI are busy.
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
PEER_SECONDS=${BENCH_PEER_SECONDS:-20}
SIZES=${BENCH_SIZES:-100 1000 5000 10000}
peer_sizes="100 1000"
# The cloud lives in memory: only what muster itself writes is counted.
cloud=$(mktemp -d /dev/shm/muster-bench.XXXXXX)
cleanup_part() { rm -rf "$cloud"; }
[ -z "${BENCH_FULL-}" ] || peer_sizes=$SIZES

spec() { # spec DIR NODES DRIVER [POOLS]
	local pools=${4:-1} i
	mkdir -p "$1"
	{
		printf 'cluster: bench\nproviders:\n  fake: {file: %s/%s.db}\npools:\n' "$cloud" "$(basename "$1")"
		for i in $(seq "$pools"); do
			printf '  gpu%s: {provider: fake, count: %s, image: img, machine: big, options: {labels: {driver: "%s"}}}\n' \
				"$([ "$pools" = 1 ] || echo "$i-x")" $(($2 / pools)) "$3"
		done
	} >"$1/muster.yaml"
}

terraform_spec() { # terraform_spec DIR NODES DRIVER
	mkdir -p "$1"
	cat >"$1/main.tf" <<-END
	resource "terraform_data" "net" { input = { cidr = "10.0.0.0/16" } }
	resource "terraform_data" "gpu" {
	  count = $2
	  input = { name = "gpu-\${count.index}", image = "img", machine = "big", driver = "$3", net = terraform_data.net.id }
	}
	END
}

# row WHO WHAT: the figures of the last measurement.
row() {
	printf '  %-10s %-22s wall %8.2f s  cpu %8.3f s  %5d MB  %7d lines%s\n' "$1" "$2" "$wall" "$cpu" "$rss" "$lines" \
		"$(case $rc in 0) ;; 124) echo "  stopped" ;; *) echo "  exit $rc" ;; esac)"
}

run_muster() { # run_muster WHAT ARG...
	local what=$1
	shift
	measure muster "$MUSTER" -C "$dir" "$@"
	row muster "$what"
	[ "$rc" = 0 ] || { tail -n 5 "$work/muster.log"; failed=1; }
}

run_terraform() { # run_terraform WHAT ARG...: 1 when it was stopped
	local what=$1
	shift
	CAP=$PEER_SECONDS measure terraform terraform -chdir="$peer" "$@"
	row terraform "$what"
	[ "$rc" = 0 ]
}

peer_rows() { # peer_rows N
	peer=$work/terraform-$1
	terraform_spec "$peer" "$1" 570.124.06
	run_terraform init init -no-color || return
	run_terraform "plan from empty" plan -no-color -input=false -lock=false
	run_terraform apply apply -no-color -input=false -auto-approve || return
	run_terraform "plan, nothing to do" plan -no-color -input=false -lock=false || return
	peer_noop=$cpu
	terraform_spec "$peer" "$1" 570.172.08
	run_terraform "plan, driver changed" plan -no-color -input=false -lock=false || return
	peer_change=$cpu
}

declare -A apply_cpu noop_cpu noop_rss
for n in $SIZES; do
	echo "== $n objects"
	dir=$work/muster-$n
	peer_noop='' peer_change=''
	spec "$dir" "$n" 570.124.06
	run_muster "plan from empty" plan
	run_muster apply apply --yes
	apply_cpu[$n]=$cpu
	run_muster "plan, nothing to do" plan
	noop_cpu[$n]=$cpu noop_rss[$n]=$rss
	spec "$dir" "$n" 570.172.08
	run_muster "plan, driver changed" plan
	change_cpu=$cpu
	below "lines of the plan of one change" "$lines" 30
	case " $peer_sizes " in
	*" $n "*)
		if command -v terraform >/dev/null; then
			peer_rows "$n"
			[ -z "$peer_noop" ] || echo "  no-op plan, CPU: terraform / muster $(ratio "$peer_noop" "${noop_cpu[$n]}")"
			[ -z "$peer_change" ] || echo "  changed plan, CPU: terraform / muster $(ratio "$peer_change" "$change_cpu")"
		else
			echo "  terraform: skipped, not installed"
		fi
		;;
	*) echo "  terraform: skipped at $n (BENCH_FULL=1 tries it)" ;;
	esac
done

last=$(awk '{ print $NF }' <<<"$SIZES")
dir=$work/muster-$last
echo "== promises at $last nodes"
run_muster validate validate
near "validate, CPU s" "$cpu" 0.2
near "no-op plan, CPU s" "${noop_cpu[$last]}" 0.5
below "no-op plan, peak MB" "${noop_rss[$last]}" 100
if [ -n "${apply_cpu[1000]-}" ] && [ "$last" = 10000 ]; then
	below "apply, CPU: 10,000 / 1,000" "$(ratio "${apply_cpu[10000]}" "${apply_cpu[1000]}")" 12
fi

total=${apply_cpu[$last]}
for i in 2 3 4 5 6 7 8 9 10; do
	spec "$dir" "$last" "570.$i"
	measure muster "$MUSTER" -C "$dir" apply --yes -q
	[ "$rc" = 0 ] || { tail -n 5 "$work/muster.log"; failed=1; }
	total=$(awk -v a="$total" -v b="$cpu" 'BEGIN { print a + b }')
done
below "KB written for each changed object" "$(ratio "$written" "$last")" 8
near "apply, ten steps a node, CPU s" "$total" 30
run_muster status status
run_muster drift drift
run_muster destroy destroy --yes-destroy="$last" -q

echo "== 40 pools"
dir=$work/pools
spec "$dir" "$last" 570.124.06 40
run_muster "plan from empty" plan
run_muster apply apply --yes -q
run_muster "plan, nothing to do" plan
spec "$dir" "$last" 570.172.08 40
run_muster "plan, driver changed" plan
below "lines of the plan of one change" "$lines" 30

echo "== start-up"
# On a terminal, as a user waits for it; the best of five.
first_byte() {
	python3 - "$MUSTER" "$dir" <<'PY'
import os, pty, select, sys, time
muster, where = sys.argv[1:]
best = 1e9
for _ in range(5):
    begin = time.monotonic()
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.environ.pop("CI", None)  # then nothing is drawn
        os.execv(muster, [muster, "-C", where, "plan"])
    select.select([fd], [], [], 60)
    best = min(best, time.monotonic() - begin)
    try:
        while os.read(fd, 65536):
            pass
    except OSError:
        pass
    os.waitpid(pid, 0)
print(int(best * 1000))
PY
}
near "first byte of a plan of $last nodes, ms" "$(first_byte)" 50
measure version "$MUSTER" version
near "muster version, CPU ms" "$(awk -v c="$cpu" 'BEGIN { print c * 1000 }')" 5
exit $failed
