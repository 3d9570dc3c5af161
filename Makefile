# SPDX-License-Identifier: Apache-2.0
# muster: GNU make and pkg-config, no configure step. `make help` lists the targets.
#
#   BUILD=dir   where everything built goes (default build); several may live side by side
#   CC=clang    another compiler
#   SAN=1       AddressSanitizer and UndefinedBehaviorSanitizer, in $(BUILD)/san
#   COV=1       gcov coverage, in $(BUILD)/cov
#   WERROR=0    warnings stay warnings
#   V=1         show the commands

VERSION := 0.1.0

# ---- where things go -------------------------------------------------------------------------

BUILD  ?= build
PREFIX ?= /usr/local
DESTDIR ?=
BINDIR  = $(PREFIX)/bin
MANDIR  = $(PREFIX)/share/man
DATADIR = $(PREFIX)/share/muster

override ROOT_BUILD := $(BUILD)
ifeq ($(SAN),1)
override BUILD := $(BUILD)/san
endif
ifeq ($(COV),1)
override BUILD := $(BUILD)/cov
endif
ifeq ($(FUZZ),1)
override BUILD := $(BUILD)/fuzz
endif

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' $(1) '$(2)')

# ---- the rooms, lowest floor first: a room may use what stands to its left -------------------

ROOMS := base net templates inventory state providers playbooks health engine cli

# Folders of data inside rooms; C files in them are not ours to compile.
DATA_DIRS := templates/files/% playbooks/roles/% state/schema/%

room_src = $(filter-out $(DATA_DIRS),$(sort $(wildcard $(1)/*.c $(1)/*/*.c)))
room_obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(call room_src,$(1)))
upto = $(if $(2),,$(error no room $(1) in ROOMS))$(if $(filter $(1),$(firstword $(2))),$(3) $(1),$(call upto,$(1),$(wordlist 2,99,$(2)),$(3) $(firstword $(2))))
reverse = $(if $(1),$(call reverse,$(wordlist 2,99,$(1))) $(firstword $(1)))
# Libraries of a room and of all rooms before it, in link order (highest first).
libs_upto = $(foreach r,$(call reverse,$(call upto,$(1),$(ROOMS))),$(BUILD)/lib$(r).a)

# ---- flags -----------------------------------------------------------------------------------

PKGS := libssh2 yaml-0.1 openssl sqlite3 jansson libpcre2-8
# Compiled against, and loaded when it is first needed (net/git.c).
LATE_PKGS := libgit2
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) $(LATE_PKGS) 2>/dev/null)
PKG_LIBS   := $(shell pkg-config --libs $(PKGS) 2>/dev/null)

WARN := -Wall -Wextra -Wshadow -Wvla -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes \
	-Wwrite-strings -Wundef -Wpointer-arith -Wcast-align -Wimplicit-fallthrough \
	-Werror=deprecated-declarations $(if $(filter 0,$(WERROR)),,-Werror)

ifneq ($(filter 1,$(SAN) $(FUZZ)),)
OPT := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=undefined -DMUSTER_SANITIZE
OPT += $(if $(filter 1,$(FUZZ)),-fsanitize=fuzzer-no-link)
LDOPT := -fsanitize=address,undefined
else ifeq ($(COV),1)
OPT := -O0 -g --coverage
LDOPT := --coverage
else
OPT := -O2 -g -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong \
	-fstack-clash-protection -fPIE
LDOPT := -pie -Wl,-z,relro,-z,now
endif

CPPFLAGS_ALL = -I. -I$(BUILD) -D_GNU_SOURCE -DMUSTER_VERSION='"$(VERSION)"' \
	-DMUSTER_DATADIR='"$(DATADIR)"' -include base/banned.h $(PKG_CFLAGS) $(CPPFLAGS)
CFLAGS_ALL = -std=gnu11 $(WARN) $(OPT) -ffile-prefix-map=$(CURDIR)=. $(CFLAGS)
LDFLAGS_ALL = $(LDOPT) -Wl,--as-needed $(LDFLAGS)
LIBS = $(PKG_LIBS) -lcrypt -lpthread -lm -ldl

compile = $(CC) $(CPPFLAGS_ALL) $(MAY_PRINT) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# ---- the program -----------------------------------------------------------------------------

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

CLI_MAIN := $(wildcard cli/main.c)
MUSTER := $(BUILD)/muster

.PHONY: all
all: $(if $(CLI_MAIN),$(MUSTER),lib-cli)

$(MUSTER): $(BUILD)/obj/cli/main.o $(call libs_upto,cli)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

# Objects are rebuilt when the flags or the compiler change.
FLAGS_NOW := $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@pkg-config --print-errors --exists $(PKGS) $(LATE_PKGS) || \
		{ echo 'libraries are missing; on Debian: sudo tools/setup build' >&2; exit 1; }
	@printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' >$@.new
	@if cmp -s $@.new $@; then rm -f $@.new; else mv $@.new $@; fi
FORCE:

$(BUILD)/obj/cli/%.o: MAY_PRINT = -DMUSTER_MAY_PRINT
$(BUILD)/obj/tests/%.o: MAY_PRINT = -DMUSTER_MAY_PRINT
$(BUILD)/obj/%.o: %.c $(BUILD)/flags | $(BUILD)/gen/state_schema.h
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(compile)

# One static library a room; cli/main.o stays out so that tests can link the rest of cli/.
# Thin, sorted, deterministic. A room without sources gives an empty library.
define room_rules
$(BUILD)/lib$(1).a: $(filter-out $(BUILD)/obj/cli/main.o,$(call room_obj,$(1))) $(BUILD)/$(1).list
	$$(call say,AR,$$@)
	@mkdir -p $$(@D)
	@rm -f $$@
	$$(Q)$$(AR) rcsD $$@ $$(filter %.o,$$^)
$(BUILD)/$(1).list: FORCE
	@mkdir -p $$(@D)
	@echo '$(call room_src,$(1))' >$$@.new
	@if cmp -s $$@.new $$@; then rm -f $$@.new; else mv $$@.new $$@; fi
.PHONY: lib-$(1)
lib-$(1): $(call libs_upto,$(1))
endef
$(foreach r,$(ROOMS),$(eval $(call room_rules,$(r))))

# ---- generated headers -----------------------------------------------------------------------

SCHEMA_SQL := $(sort $(wildcard state/schema/*.sql))

# `static const struct { const char *name, *sql; } state_schema[]`, sorted by file name.
$(BUILD)/gen/state_schema.h: $(SCHEMA_SQL) tools/embed
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)sh tools/embed state_schema sql $(SCHEMA_SQL) >$@

# ---- tests -----------------------------------------------------------------------------------

# tests/unit/<room>/test_*.c: one cmocka program each, linked with the libraries of the room and
# of the floors below it. Other C files in that folder, and tests/support/*.c, are linked into each.
TEST_LIBS = $(shell pkg-config --libs cmocka)
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
TEST_TIMEOUT ?= 120
TALLY ?= $(BUILD)/tally
RUNTESTS = TEST_BUILD='$(abspath $(BUILD))' MUSTER='$(abspath $(MUSTER))' \
	sh tools/runtests -j $(JOBS) -t $(TEST_TIMEOUT) -o $(BUILD)/results -T $(TALLY)

SUPPORT_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard tests/support/*.c)))

# $(1) folder under tests/, $(2) highest room that its programs link, $(3) name of the tier
define test_rules
$(3)_SRC := $(sort $(wildcard tests/$(1)/test_*.c))
$(3)_AUX := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out tests/$(1)/test_%,$(sort $(wildcard tests/$(1)/*.c))))
$(3)_BIN := $$(patsubst tests/%.c,$(BUILD)/tests/%,$$($(3)_SRC))
$(3)_SH := $(sort $(wildcard tests/$(1)/*.t))
$(BUILD)/tests/$(1)/%: $(BUILD)/obj/tests/$(1)/%.o $$($(3)_AUX) $(SUPPORT_OBJ) $(call libs_upto,$(2))
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CFLAGS_ALL) $$(LDFLAGS_ALL) -o $$@ $$^ $$(TEST_LIBS) $$(LIBS)
endef
$(foreach r,$(ROOMS),$(eval $(call test_rules,unit/$(r),$(r),unit-$(r))))
TIERS := cli plan conformance templates hosts crash
$(foreach t,$(TIERS),$(eval $(call test_rules,$(t),cli,$(t))))

UNIT_BINS := $(foreach r,$(ROOMS),$(unit-$(r)_BIN))

# tests/doubles/*.c: servers that tests speak to, programs of their own; what they need (libssh) the
# product does not, so a machine without it builds none, and the tests say so.
DOUBLE_LIBS := $(shell pkg-config --silence-errors --cflags --libs libssh)
DOUBLES := $(if $(DOUBLE_LIBS),$(patsubst tests/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/doubles/*.c))))
$(BUILD)/tests/doubles/%: $(BUILD)/obj/tests/doubles/%.o
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $^ $(DOUBLE_LIBS) -lpthread

# tests/bench/*.c: programs of the bench, linked with templates and what is below.
BENCH_BIN := $(patsubst tests/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/bench/*.c)))
$(BUILD)/tests/bench/%: $(BUILD)/obj/tests/bench/%.o $(call libs_upto,templates)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

.PHONY: unit unit-build $(ROOMS:%=unit-%) $(ROOMS:%=unit-build-%)
$(foreach r,$(ROOMS),$(eval unit-build-$(r): $(unit-$(r)_BIN)))
$(ROOMS:%=unit-%): unit-%: unit-build-%
	@$(RUNTESTS) unit-$* $(unit-$*_BIN)
unit-build: $(UNIT_BINS)
unit: unit-build
	@$(RUNTESTS) unit $(UNIT_BINS)

# tests/{cli,plan,conformance,templates,hosts,crash}: *.t scripts (POSIX sh, TAP) and test_*.c programs.
.PHONY: $(TIERS:%=test-%) $(TIERS:%=test-build-%)
$(foreach t,$(TIERS),$(eval test-build-$(t): $($(t)_BIN) $(if $(CLI_MAIN),$(MUSTER))))
test-build-cli: $(DOUBLES)
test-build-templates: $(BUILD)/tests/templates/answer
test-conformance test-hosts test-crash: TEST_TIMEOUT = 900
test-hosts: RUNTESTS += -k
test-crash: RUNTESTS += -k
$(TIERS:%=test-%): test-%: test-build-%
	@$(RUNTESTS) $* $($*_BIN) $($*_SH)

# kill -9 at every fault point of the engine; the unit tests take a sample of them.
.PHONY: crash-points
crash-points: $(BUILD)/tests/unit/engine/test_crash
	@CRASH_POINTS=all $(RUNTESTS) -t 3600 crash-points $<
	@sed -n 's/^# \([0-9]* kills\)/    \1/p' $(BUILD)/results/crash-points/unit.engine.test_crash.log

VALGRIND := valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite
VALGRIND_ROOMS ?= base
.PHONY: valgrind
valgrind: $(foreach r,$(VALGRIND_ROOMS),$(unit-$(r)_BIN))
	@$(RUNTESTS) -t 600 -w '$(VALGRIND)' -x tests/valgrind.skip valgrind $^

# ---- fuzzing: tests/fuzz/fuzz_*.c, seeds in tests/fuzz/corpus/<name>/ -------------------------

FUZZ_SECONDS ?= 60
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(FUZZ_SRC))
FUZZ_AUX := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out tests/fuzz/fuzz_%,$(sort $(wildcard tests/fuzz/*.c))))

$(BUILD)/tests/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(FUZZ_AUX) $(call libs_upto,engine)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) -fsanitize=fuzzer $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

.PHONY: fuzz fuzz-run fuzz-merge
fuzz:
	@$(MAKE) --no-print-directory CC=clang FUZZ=1 BUILD=$(ROOT_BUILD) TALLY=$(TALLY) fuzz-run
fuzz-run: $(FUZZ_BIN)
	@sh tools/fuzz $(FUZZ_SECONDS) $(BUILD) $(TALLY) $(FUZZ_BIN)
# What was learned, without what says nothing new.
fuzz-merge:
	@sh tools/fuzz merge $(ROOT_BUILD)/fuzz '' $(patsubst tests/fuzz/%.c,$(ROOT_BUILD)/fuzz/tests/fuzz/%,$(FUZZ_SRC))

# ---- lint ------------------------------------------------------------------------------------

# Fast ones first. Each may be run alone.
LINTS := floors banned names size headers sh docs format cppcheck tidy
.PHONY: lint $(LINTS:%=lint-%) format
lint:
	@rc=0; for l in $(LINTS); do \
		$(MAKE) --no-print-directory lint-$$l || rc=1; done; exit $$rc

C_FILES = $(sort $(wildcard $(foreach r,$(ROOMS),$(r)/*.[ch] $(r)/*/*.[ch]) tests/*/*.[ch] tests/*/*/*.[ch] tools/*.[ch]))
LINT_C = $(filter-out $(DATA_DIRS),$(C_FILES))
LINT = BUILD='$(BUILD)' CC='$(CC)' LINT_FLAGS='-std=gnu11 $(subst ','\'',$(CPPFLAGS_ALL))' JOBS='$(JOBS)' MUSTER='$(MUSTER)'

lint-floors:
	@sh tools/floors
lint-banned:
	@sh tools/lint-banned $(LINT_C)
lint-names:
	@sh tools/lint-names
lint-size:
	@sh tools/lint-size $(LINT_C)
lint-headers: $(BUILD)/gen/state_schema.h
	@$(LINT) sh tools/lint-cached headers $(filter %.h,$(LINT_C))
lint-sh:
	@$(LINT) sh tools/lint-sh
lint-docs: $(if $(CLI_MAIN),$(MUSTER))
	@$(LINT) sh tools/lint-docs
lint-format:
	@$(LINT) sh tools/lint-cached format $(LINT_C)
lint-cppcheck: $(BUILD)/gen/state_schema.h
	@$(LINT) sh tools/lint-cached cppcheck $(filter %.c,$(LINT_C))
lint-tidy: $(BUILD)/gen/state_schema.h
	@$(LINT) sh tools/lint-cached tidy $(filter-out tests/%,$(filter %.c,$(LINT_C)))
format:
	@sh tools/format $(LINT_C)

# ---- everything, in order --------------------------------------------------------------------

.PHONY: check check-all bench demo
check:
	+@MAKE='$(MAKE)' BUILD='$(ROOT_BUILD)' sh tools/check check
check-all:
	+@MAKE='$(MAKE)' BUILD='$(ROOT_BUILD)' sh tools/check check-all
bench: all $(DOUBLES) $(BENCH_BIN)
	@TEST_BUILD='$(abspath $(BUILD))' MUSTER='$(abspath $(MUSTER))' bash tests/bench/run $(BENCH)
demo:
	+@MAKE='$(MAKE)' BUILD='$(BUILD)' sh tools/demo

# ---- manual pages, install, dist -------------------------------------------------------------

MAN_SRC := $(sort $(wildcard docs/man/*.scd))
MAN := $(patsubst docs/man/%.scd,$(BUILD)/man/%,$(MAN_SRC))

.PHONY: docs man install uninstall dist clean help
docs: man
man: $(MAN)

# A line `@@table NAME` in a page is replaced by what `muster docs-table NAME` prints.
$(BUILD)/man/%: docs/man/%.scd tools/splice $(if $(CLI_MAIN),$(MUSTER))
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)sh tools/splice $(MUSTER) $< >$@.scd
	$(Q)scdoc <$@.scd >$@

install: all man
	sh tools/install '$(MUSTER)' '$(BUILD)/man' '$(DESTDIR)' '$(PREFIX)'
uninstall:
	sh tools/install -u '$(DESTDIR)' '$(PREFIX)'

dist:
	@mkdir -p $(BUILD)
	git archive --prefix=muster-$(VERSION)/ -o $(BUILD)/muster-$(VERSION).tar.gz HEAD
	@echo $(BUILD)/muster-$(VERSION).tar.gz

clean:
	rm -rf '$(BUILD)'

help:
	@printf '%s\n' \
	'make                  the program, $(MUSTER)' \
	'make check            lint, gcc, clang, sanitizers, every test tier that runs in minutes' \
	'make check-all        also crash tests, bench, valgrind over everything, longer fuzzing' \
	'make lint             all of: $(LINTS:%=lint-%)' \
	'make format           clang-format over the tree' \
	'make unit[-ROOM]      unit tests (ROOM: $(ROOMS))' \
	'make test-TIER        $(TIERS)' \
	'make bench [BENCH=PART]  PART: play exec ssh scale progress template' \
	'make valgrind fuzz demo man install uninstall dist clean' \
	'variables             BUILD=dir CC=clang SAN=1 COV=1 WERROR=0 V=1 PREFIX= DESTDIR=' \
	'tools/setup GROUP...  installs what is needed on Debian: build test demo bench'

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
