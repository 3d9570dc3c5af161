# SPDX-License-Identifier: Apache-2.0
# The same templates through our engine and through Jinja2 with Ansible's filters: the written cases, and those that a grammar makes from a seed.
# TEMPLATE_COUNT and TEMPLATE_SEED choose others; TEMPLATE_PEER the Python that has jinja2 and ansible (default: Debian's).
. tests/cli/lib.sh
cd "$TEST_TOP" || exit 1

peer=${TEMPLATE_PEER:-/usr/bin/python3}
"$peer" -c 'import jinja2, ansible.plugins.filter.core' 2>/dev/null || {
	echo "1..0 # SKIP $peer has no jinja2 and ansible: tools/setup test"
	exit 0
}
for seed in ${TEMPLATE_SEED:-1 2}; do
	out=$(PYTHONDONTWRITEBYTECODE=1 python3 tests/templates/run.py "$TEST_BUILD/tests/templates/answer" --peer "$peer" \
		--count "${TEMPLATE_COUNT:-3000}" --seed "$seed" 2>&1)
	status=$?
	is "seed $seed: $(printf '%s\n' "$out" | tail -n 1)" 0 "$status"
	case $out in *", 0 differ"*) ;; *) printf '%s\n' "$out" | sed 's/^/# /' ;; esac
done
finish
