# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   make                the libraries, in target/lib
#   make demo           builds, then moves data between two processes; IA=shm
#   make check          all checks, the steps of tests-c/steps.txt; as root on Debian it installs the
#                       packages that it lacks, unless CHECK_INSTALL=0
#   make lint           what is derived, format, clippy, manual pages
#   make test           the Rust tests, and the models of the rings
#   make check-c        the C suite on one adapter; see tests-c/README.md; IA=shm
#   make check-verbs    all that needs an RDMA device, with Soft-RoCE in a virtual machine;
#                       RDMA=NETDEV on this machine's own device; TESTS=pattern
#   make measure        counts the instructions of the fast path; KEEP=1 writes them to
#                       tests-c/perf/instructions.txt
#   make bench          latency, rates and bandwidth on shm beside UCX and what the machine can do, in
#                       one table of ratios, and docs/bench.svg; VERBS=1 also on an RDMA device, as
#                       check-verbs; QUICK=1 takes under a minute and leaves verbs out; AGAINST=DIR
#                       compares with the libraries in DIR
#   make fuzz           hands the parts that face the outside what nobody would send, MINUTES=10 in all;
#                       TARGETS="node ring" for some of src/fuzz
#   make sanitize       Rust tests under AddressSanitizer, ThreadSanitizer and miri, as far as a nightly
#                       compiler has them
#   make trips          counts the functions and files that calls go through
#   make derived        writes what is derived from src/udat12: include/dat, the table of functions
#                       in README.md, lists for tests-c
#   make install        installs what make built, or builds it first if nothing is there;
#                       PREFIX=/usr/local DESTDIR= LIB=lib
#   make uninstall      with the same variables
#   make clean
#
# This needs cargo, make and a C compiler. CARGO_TARGET_DIR, CC and CFLAGS are respected. The
# provider verbs also needs the development files of rdma-core, and libclang to read them:
#
#   VERBS=auto          it is built if these are there; otherwise one line says that it is left out
#   VERBS=1             it is an error if they are missing
#   VERBS=0             it is neither built nor installed

PREFIX  ?= /usr/local
DESTDIR ?=
# The folder for libraries below PREFIX, such as lib/x86_64-linux-gnu.
LIB     ?= lib
IA      ?= shm

CARGO  ?= cargo
CC     ?= cc
CFLAGS ?= -O2 -g

VERBS ?= auto
ifeq ($(filter auto 0 1,$(VERBS)),)
$(error VERBS is auto, 1 or 0, not "$(VERBS)")
endif

VERSION   := $(shell sed -n 's/^version = "\(.*\)"$$/\1/p' Cargo.toml | head -n 1)
LIBRARIES := libdat libdaplshm
# The provider verbs, and the names by which the configurations of OFED know it.
VERBS_LIB := libdaplverbs
ALIASES   := libdaplcma libdaplscm

TARGET := $(abspath $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target))
OUT    := $(TARGET)/lib
export CARGO_TARGET_DIR := $(TARGET)

.PHONY: all base verbs no-verbs demo check lint test check-c check-verbs measure bench fuzz sanitize trips derived \
	built install uninstall clean

VERBS_0    = no-verbs
VERBS_1    = verbs
VERBS_auto = $(if $(VERBS_LACKS),no-verbs,verbs)
# The packages that its build lacks here.
VERBS_LACKS = $(strip $(shell src/verbs/needs.sh))

all: base $(VERBS_$(VERBS))

# ---- Libraries ----

# Cargo knows what is up to date. Then target/lib gets what has changed: each file is copied beside
# the old one and moved, so that programs that run keep theirs.
define place
@mkdir -p $(OUT)
@for lib in $(1); do \
	cmp -s $(TARGET)/release/$$lib.so $(OUT)/$$lib.so.1 || { \
		cp $(TARGET)/release/$$lib.so $(OUT)/$$lib.new && \
		mv $(OUT)/$$lib.new $(OUT)/$$lib.so.1; \
	} || exit 1; \
done
endef

base:
	$(CARGO) build --release --locked
	$(call place,$(LIBRARIES))
	@ln -sf libdat.so.1 $(OUT)/libdat.so

verbs: base
	@test -z "$(VERBS_LACKS)" || { \
		echo "$(VERBS_LIB) needs these Debian packages: $(VERBS_LACKS)" >&2; exit 1; }
	$(CARGO) build --release --locked -p dat-verbs12
	$(call place,$(VERBS_LIB))
	@for alias in $(ALIASES); do ln -sf $(VERBS_LIB).so.1 $(OUT)/$$alias.so.1 || exit 1; done

# An older one must not be installed with newer libraries.
no-verbs: base
	@rm -f $(patsubst %,$(OUT)/%.so.1,$(VERBS_LIB) $(ALIASES))
	@test "$(VERBS)" = 0 || echo \
		"$(VERBS_LIB) is left out, since its build needs these packages: $(VERBS_LACKS)"

# ---- Demo ----

DEMO     := $(TARGET)/demo
DEMO_SRC := $(wildcard tests-c/demo/*.c)

$(DEMO): $(DEMO_SRC) $(wildcard tests-c/demo/*.h include/dat/*.h) | base
	$(CC) -std=c99 -Wall -Wextra -Wpedantic $(CFLAGS) $(CPPFLAGS) -Iinclude -o $@ $(DEMO_SRC) \
		$(LDFLAGS) -L$(OUT) -ldat -Wl,-rpath,$(OUT)

# If the host has a dat.conf, the built-in adapters are not there; the example lists shm.
demo: base $(DEMO)
	@if test "$(IA)" = shm && test -z "$$DAT_OVERRIDE" && \
		{ test -e /etc/dat.conf || test -e /etc/rdma/dat.conf; }; then \
		export DAT_OVERRIDE=dat.conf.example; \
	fi; \
	$(DEMO) $(IA)

# ---- Checks ----

check:
	@tests-c/check.sh

lint:
	@tests-c/check.sh derived fmt clippy man

test:
	@tests-c/check.sh test loom

check-c: all
	@$(MAKE) --no-print-directory -C tests-c check IA=$(IA)

check-verbs:
	@$(MAKE) --no-print-directory all VERBS=1
	@TARGET="$(TARGET)" RDMA="$(RDMA)" TESTS="$(or $(TESTS),.)" tests-c/verbs/check.sh

measure: all
	@$(MAKE) --no-print-directory -C tests-c measure KEEP=$(KEEP)

bench: all
	@TARGET="$(TARGET)" RDMA="$(RDMA)" $(MAKE) --no-print-directory -C tests-c bench VERBS=$(VERBS)

fuzz:
	@src/fuzz/fuzz.sh "$(or $(MINUTES),10)" $(TARGETS)

sanitize:
	@tests-c/sanitize.sh

trips:
	$(CARGO) build --locked
	@$(MAKE) --no-print-directory -C tests-c trips BUILD=debug

derived:
	$(CARGO) run --quiet --locked -p dat-derived

# ---- Install ----

libdir := $(DESTDIR)$(PREFIX)/$(LIB)
incdir := $(DESTDIR)$(PREFIX)/include/dat
mandir := $(DESTDIR)$(PREFIX)/share/man
docdir := $(DESTDIR)$(PREFIX)/share/doc/libdat

DOCS      := README.md CHANGELOG.md LICENSE LICENSE-MIT LICENSE-APACHE dat.conf.example
MAN_PAGES := $(notdir $(wildcard docs/man/*.[357]))
HEADERS   := $(notdir $(wildcard include/dat/*.h))
DEMO_ALL  := $(notdir $(wildcard tests-c/demo/*.[ch]))

# The way from LIB/pkgconfig up to PREFIX. dat.pc names its prefix relative to itself, so that the tree
# can be moved.
empty :=
space := $(empty) $(empty)
UP    := $(subst $(space),/,$(patsubst %,..,$(subst /, ,$(LIB)/pkgconfig)))

# What was built is installed as it is: root may have no cargo, or another one.
built:
	@{ test -e $(OUT)/libdat.so.1 && { test "$(VERBS)" != 1 || test -e $(OUT)/$(VERBS_LIB).so.1; }; } || \
		$(MAKE) --no-print-directory all

install: built
	install -d $(libdir)/pkgconfig $(incdir) $(docdir)/demo \
		$(mandir)/man3 $(mandir)/man5 $(mandir)/man7
	install -m 755 $(LIBRARIES:%=$(OUT)/%.so.1) $(libdir)
	ln -sf libdat.so.1 $(libdir)/libdat.so
	if test "$(VERBS)" != 0 && test -e $(OUT)/$(VERBS_LIB).so.1; then \
		install -m 755 $(OUT)/$(VERBS_LIB).so.1 $(libdir) || exit 1; \
		for alias in $(ALIASES); do ln -sf $(VERBS_LIB).so.1 $(libdir)/$$alias.so.1 || exit 1; done; \
	fi
	install -m 644 $(HEADERS:%=include/dat/%) $(incdir)
	sed -e 's|@UP@|$(UP)|' -e 's|@LIB@|$(LIB)|' -e 's|@VERSION@|$(VERSION)|' docs/dat.pc.in \
		>$(libdir)/pkgconfig/dat.pc
	chmod 644 $(libdir)/pkgconfig/dat.pc
	for s in 3 5 7; do install -m 644 docs/man/*.$$s $(mandir)/man$$s || exit 1; done
	install -m 644 $(DOCS) $(docdir)
	install -m 644 $(DEMO_ALL:%=tests-c/demo/%) $(docdir)/demo
	@if test -z "$(DESTDIR)" && test "$$(id -u)" = 0 && command -v ldconfig >/dev/null; then \
		ldconfig; \
	fi

# Removes what install made, and the directories in which nothing else can be.
uninstall:
	rm -f $(LIBRARIES:%=$(libdir)/%.so.1) $(libdir)/libdat.so $(libdir)/pkgconfig/dat.pc
	for alias in $(ALIASES); do \
		test "$$(readlink $(libdir)/$$alias.so.1)" != $(VERBS_LIB).so.1 || \
			rm -f $(libdir)/$$alias.so.1; \
	done
	rm -f $(libdir)/$(VERBS_LIB).so.1
	rm -f $(HEADERS:%=$(incdir)/%)
	for page in $(MAN_PAGES); do rm -f $(mandir)/man$${page##*.}/$$page; done
	rm -f $(DOCS:%=$(docdir)/%) $(DEMO_ALL:%=$(docdir)/demo/%)
	-rmdir $(docdir)/demo $(docdir) $(incdir) 2>/dev/null

clean:
	rm -rf $(OUT) $(DEMO) $(TARGET)/check $(TARGET)/loom $(TARGET)/found $(TARGET)/libfuzzer $(TARGET)/sanitize
	@$(MAKE) --no-print-directory -C tests-c clean
	$(CARGO) clean
