# SPDX-License-Identifier: Apache-2.0
# exec on 300 targets of which a tenth each is dead, refuses, is silent, or slow: all others answer, and it ends when the slowest has.
# (tests/doubles/sshd_many answers for all of them; addresses are its own, whatever else runs on this machine.)
. tests/cli/lib.sh

double=$TEST_BUILD/tests/doubles/sshd_many
[ -x "$double" ] || { echo "1..0 # SKIP libssh is missing: tools/setup test"; exit 0; }
command -v ssh-keygen >/dev/null || { echo "1..0 # SKIP ssh-keygen is missing"; exit 0; }

ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f user || exit 1
start_server() { # start_server RULES...: $port, $dead
	mkfifo ready
	"$double" -k host -d 0 "$@" >counts 3>&1 1>ready &
	server=$!
	exec 4<ready
	rm ready
	read -r _ port dead <&4
}
# What it counted, when it ends.
stop_server() {
	kill $server
	counts=$(cat <&4)
	exec 4<&-
	wait $server
	server=
}
trap '[ -z "$server" ] || kill $server' EXIT
start_server -r 127.9.3.1-127.9.3.30=hang -r 127.9.4.1-127.9.4.30=slow:700 -r 127.9.5.1-127.9.5.10=deny \
	-r 127.9.6.1-127.9.6.10=reset -r 127.9.7.1-127.9.7.10=drop
[ "$dead" ] || { echo "1..0 # SKIP the loopback device cannot be bound to here"; exit 0; }

# hosts NAME COUNT NET PORT
hosts() { for i in $(seq "$2"); do echo "$1$(printf %03d "$i") ansible_host=127.9.$3.$i ansible_port=$4"; done; }
{
	hosts good 150 0 "$port"
	hosts dead 30 1 "$dead"
	hosts refused 30 2 1
	hosts silent 30 3 "$port"
	hosts slow 30 4 "$port"
	hosts denied 10 5 "$port"
	hosts reset 10 6 "$port"
	hosts dropped 10 7 "$port"
	echo "[all:vars]"
	echo "ansible_user=root"
	echo "ansible_ssh_private_key_file=$PWD/user"
	echo "ansible_ssh_common_args='-o UserKnownHostsFile=$PWD/known'"
} >targets.ini
awk -v key="$(cut -d' ' -f1,2 host.pub)" '/ansible_host/ { split($2, h, "="); split($3, p, "="); print "[" h[2] "]:" p[2] " " key }' targets.ini >known
printf 'Host *\n  ConnectTimeout 3\n  IdentityAgent none\n' >config

run --ssh-config config exec -i targets.ini all -- echo hello
is "exit status: some failed" 4 "$status"
has "equal answers are one block" "$out" "== good[001-150],slow[001-030] (180)
hello"
is "and nothing else is printed" 2 "$(printf '%s\n' "$out" | wc -l)"
has "the dead are one message" "$err" "error: no answer from the node (TCP connect)
  node      dead[001-030]"
has "the refused, too" "$err" "error: cannot connect to the node: Connection refused
  node      refused[001-030]"
has "the silent, too" "$err" "error: the node accepts connections but sends no SSH banner
  node      silent[001-030]"
has "the denied, too" "$err" "error: the node does not let root in"
has "with their names" "$err" "  node      denied[001-010]"
has "the reset, with their names" "$err" "  node      reset[001-010]"
has "the dropped, with their names" "$err" "  node      dropped[001-010]"
has "how many" "$err" "120 of 300 nodes failed"

# The answers of the living come before the dead are given up.
run --ssh-config config --json exec -i targets.ini all -- echo hello
is "with --json: exit status" 4 "$status"
is "with --json: every node has its line" 300 "$(printf '%s\n' "$out" | grep -c '"type":"exec_result"')"
last_good=$(printf '%s\n' "$out" | grep -n '"node":"good' | tail -n 1 | cut -d: -f1)
first_dead=$(printf '%s\n' "$out" | grep -n '"node":"dead' | head -n 1 | cut -d: -f1)
[ "$last_good" -lt "$first_dead" ]
ok "nobody waits for the dead ($last_good before $first_dead)" $?

run --ssh-config config exec -i targets.ini all --no-fold -p 300 -- hostname
is "--no-fold: a block each" 180 "$(printf '%s\n' "$out" | grep -c '^== ')"
has "--no-fold: its own answer" "$out" "== good017 (1)
127.9.0.17"

run --ssh-config config exec -i targets.ini 'dead*:refused*' -- true
is "all failed" 1 "$status"
run --ssh-config config exec -i targets.ini 'good*' -- 'hostname; exit 3'
is "a command that fails everywhere" 1 "$status"
has "its output is there" "$out" "== good150 (1) exit 3
127.9.0.150"

# Few open files: fewer at a time, and that is said.
out=$(prlimit --nofile=128:128 "$MUSTER" --ssh-config config exec -i targets.ini 'good*' -- echo hello 2>err </dev/null)
is "few open files: all answer" "== good[001-150] (150)
hello" "$out"
has "few open files: it says so" "$(cat err)" "nodes at a time: this machine allows 128 open files"

# ^C while all of them work.
"$MUSTER" --ssh-config config exec -i targets.ini 'good*' -- sleep 20 >log 2>&1 </dev/null &
pid=$!
sleep 1
kill -INT $pid
wait $pid
is "^C: exit status" 130 $?
has "^C: the nodes are told" "$(cat log)" "  node      good[001-150]"

stop_server
has "the server has seen them all" "$counts" "connections="
note "$counts"
finish
