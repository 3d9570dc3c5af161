# SPDX-License-Identifier: Apache-2.0
# kill -9 at 200 random moments of apply and destroy on the fake cloud.
echo 1..1
if sh "$TEST_TOP/tests/crash/fake.sh" 200; then
	echo "ok 1 - every run after a kill converged"
else
	echo "not ok 1 - every run after a kill converged"
fi
