# SPDX-License-Identifier: Apache-2.0
# Forty tasks over eight hosts: the second apply changes nothing and costs one round trip of probes a host; what somebody
# changes by hand on one host is found there and mended there.
. tests/cli/lib.sh

trap '"$MUSTER" -C "$TEST_TMP" destroy --yes -q >/dev/null 2>&1' EXIT
cp -R "$TEST_TOP/tests/bench/play/." .
cat >muster.yaml <<'YAML'
cluster: idem
providers:
  local: {packages: [python3, python3-apt, cron]}
pools:
  n: {provider: local, count: 8, image: debian-12, playbooks: [site.yml]}
YAML
field() { # field NAME: of the result event
	printf '%s\n' "$out" | python3 -c '
import json, sys
for line in sys.stdin:
    d = json.loads(line)
    if d["type"] == "result":
        print(d[sys.argv[1]])' "$1"
}

run apply --yes --json
is "eight hosts come up and are configured" 0 "$status"
is "all eight" 8 "$(field configured)"
is "forty tasks" 40 "$(grep -c '^    - ' site.yml)"

run apply --yes --json
is "a second apply" 0 "$status"
is "configures nobody" 0 "$(field configured)"
is "one round trip of probes a host" 8 "$(field probe_trips)"
is "no patch" 0 "$(field patch_trips)"

run exec n-3 -- 'echo edited >>/etc/node/site; systemctl stop node-agent; rm /etc/node/conf.d/t2.conf'
is "damage by hand" 0 "$status"
run drift
is "drift exits 3" 3 "$status"
has "on that host" "$out" "n-3"
hasnot "and on no other" "$out" "n-4"
has "names the file" "$out" "/etc/node/site"
has "names the service" "$out" "node-agent"
has "names the missing file" "$out" "/etc/node/conf.d/t2.conf"
run apply --yes --json
is "apply mends" 0 "$status"
is "one host" 1 "$(field configured)"
run drift
is "no drift is left" 0 "$status"
run exec n-3 -- 'cat /etc/node/site; systemctl is-active node-agent'
has "the file is as it was" "$out" "lab
active"
run plan --detailed-exitcode
is "an empty plan" 0 "$status"
finish
