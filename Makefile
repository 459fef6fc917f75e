# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   make                the libraries, in target/lib
#   make demo           builds, then moves data between two processes; IA=shm
#   make check          everything: lints, tests, the C suite three times and over Soft-RoCE, install
#   make lint           headers, format, clippy, manual pages, README
#   make test           the Rust tests, and the models of the rings
#   make check-c        the C suite on one adapter; see tests-c/README.md; IA=shm
#   make check-verbs    all that needs an RDMA device, with Soft-RoCE in a virtual machine;
#                       RDMA=NETDEV on this machine's own device; TESTS=pattern
#   make headers        writes include/dat from src/udat12
#   make readme         writes the table of functions into README.md
#   make install        PREFIX=/usr/local DESTDIR= LIB=lib
#   make uninstall      with the same variables
#   make clean
#
# Needs cargo, make and a C compiler. CARGO_TARGET_DIR, CC and CFLAGS are respected. The provider
# verbs also needs the development files of rdma-core, and libclang to read them:
#
#   VERBS=auto          built where these are; otherwise one line says that it is left out
#   VERBS=1             it is an error if they are missing
#   VERBS=0             not built, not installed

PREFIX  ?= /usr/local
DESTDIR ?=
# Where libraries go, below PREFIX; for example lib/x86_64-linux-gnu.
LIB     ?= lib
IA      ?= shm

CARGO  ?= cargo
CC     ?= cc
CFLAGS ?= -O2 -g

VERBS   ?= auto
ifeq ($(filter auto 0 1,$(VERBS)),)
$(error VERBS is auto, 1 or 0, not "$(VERBS)")
endif

VERSION   := $(shell sed -n 's/^version = "\(.*\)"$$/\1/p' Cargo.toml | head -n 1)
PROVIDERS := libdaplshm
LIBRARIES := libdat $(PROVIDERS)
# Names by which the configurations of OFED know the verbs provider.
ALIASES   := libdaplcma libdaplscm

TARGET := $(abspath $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target))
OUT    := $(TARGET)/lib
export CARGO_TARGET_DIR := $(TARGET)

.PHONY: all base left-out demo check lint test check-c check-verbs headers readme install uninstall clean
all: base

# ---- Libraries ----

base: $(LIBRARIES:%=$(OUT)/%.so.1) $(OUT)/libdat.so

# cargo runs when a source is newer than what it made, so that `make install` needs no cargo after
# `make`.
SOURCES       := $(shell find src -path src/verbs -prune -o \( -name '*.rs' -o -name Cargo.toml \) -print) \
	Cargo.toml Cargo.lock
VERBS_SOURCES := $(shell find src/core src/host src/provider12 src/udat12 src/verbs \
	-name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
BUILT         := $(TARGET)/release/.built
VERBS_BUILT   := $(TARGET)/release/.built-verbs

$(BUILT): $(SOURCES)
	$(CARGO) build --release --locked
	@touch $@

# Copied beside and moved: programs that run keep the old file.
$(OUT)/%.so.1: $(BUILT)
	@mkdir -p $(@D)
	@cp $(TARGET)/release/$*.so $@.new && mv $@.new $@

$(OUT)/libdat.so: | $(OUT)/libdat.so.1
	@ln -sf libdat.so.1 $@

# ---- The provider verbs ----

VERBS_LIBRARY := $(OUT)/libdaplverbs.so.1
# What its build lacks here.
VERBS_NEEDS   := $(if $(filter 0,$(VERBS)),,$(shell src/verbs/needs.sh))
# What cannot be built but was, and is up to date, counts: root may not see all that its user sees.
VERBS_IS_MADE  = $(if $(wildcard $(VERBS_LIBRARY)),$(if $(shell find $(VERBS_SOURCES) \
	-newer $(VERBS_LIBRARY)),,yes))
WITH_VERBS    := $(if $(filter 1,$(VERBS)),yes,$(if $(filter auto,$(VERBS)),$(if \
	$(VERBS_NEEDS),$(VERBS_IS_MADE),yes)))

ifeq ($(WITH_VERBS),yes)
all: $(VERBS_LIBRARY)
else ifeq ($(VERBS),auto)
all: left-out
endif

left-out:
	@echo "libdaplverbs is left out, since its build needs these packages: $(strip $(VERBS_NEEDS))"

$(VERBS_BUILT): $(VERBS_SOURCES) | $(BUILT)
	@test -z "$(strip $(VERBS_NEEDS))" || { \
		echo "libdaplverbs needs these Debian packages: $(strip $(VERBS_NEEDS))" >&2; exit 1; }
	$(CARGO) build --release --locked -p dat-verbs
	@touch $@

$(VERBS_LIBRARY): $(VERBS_BUILT)
	@mkdir -p $(@D)
	@cp $(TARGET)/release/libdaplverbs.so $@.new && mv $@.new $@
	@for alias in $(ALIASES); do ln -sf $(@F) $(OUT)/$$alias.so.1 || exit 1; done

# ---- Demo ----

DEMO     := $(TARGET)/demo
DEMO_SRC := $(wildcard tests-c/demo/*.c)

$(DEMO): $(DEMO_SRC) $(wildcard tests-c/demo/*.h include/dat/*.h) | base
	$(CC) -std=c99 -Wall -Wextra -Wpedantic $(CFLAGS) $(CPPFLAGS) -Iinclude -o $@ $(DEMO_SRC) \
		$(LDFLAGS) -L$(OUT) -ldat -Wl,-rpath,$(OUT)

# A configuration of the host hides the built-in adapters; the example has shm.
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
	@tests-c/check.sh headers functions fmt clippy man

test:
	@tests-c/check.sh test loom

check-c: all
	@$(MAKE) --no-print-directory -C tests-c check IA=$(IA)

check-verbs:
	@$(MAKE) --no-print-directory all VERBS=1
	@TARGET="$(TARGET)" RDMA="$(RDMA)" TESTS="$(or $(TESTS),.)" tests-c/verbs/check.sh

headers:
	$(CARGO) run --quiet --locked -p dat-headers

readme:
	tests-c/functions.sh

# ---- Install ----

libdir := $(DESTDIR)$(PREFIX)/$(LIB)
incdir := $(DESTDIR)$(PREFIX)/include/dat
mandir := $(DESTDIR)$(PREFIX)/share/man
docdir := $(DESTDIR)$(PREFIX)/share/doc/libdat

DOCS      := README.md CHANGELOG.md LICENSE LICENSE-MIT LICENSE-APACHE dat.conf.example
MAN_PAGES := $(notdir $(wildcard docs/man/*.[357]))
HEADERS   := $(notdir $(wildcard include/dat/*.h))
DEMO_ALL  := $(notdir $(wildcard tests-c/demo/*.[ch]))

# From LIB/pkgconfig up to PREFIX: dat.pc says where it is itself, so the tree can be moved.
empty :=
space := $(empty) $(empty)
UP    := $(subst $(space),/,$(patsubst %,..,$(subst /, ,$(LIB)/pkgconfig)))

install: all
	install -d $(libdir)/pkgconfig $(incdir) $(docdir)/demo \
		$(mandir)/man3 $(mandir)/man5 $(mandir)/man7
	install -m 755 $(LIBRARIES:%=$(OUT)/%.so.1) $(libdir)
	ln -sf libdat.so.1 $(libdir)/libdat.so
ifeq ($(WITH_VERBS),yes)
	install -m 755 $(VERBS_LIBRARY) $(libdir)
	for alias in $(ALIASES); do ln -sf $(notdir $(VERBS_LIBRARY)) $(libdir)/$$alias.so.1 || exit 1; done
endif
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

# What install made; the directories that are libdat's alone too.
uninstall:
	rm -f $(LIBRARIES:%=$(libdir)/%.so.1) $(libdir)/libdat.so $(libdir)/pkgconfig/dat.pc
	for alias in $(ALIASES); do \
		test "$$(readlink $(libdir)/$$alias.so.1)" != $(notdir $(VERBS_LIBRARY)) || \
			rm -f $(libdir)/$$alias.so.1; \
	done
	rm -f $(libdir)/$(notdir $(VERBS_LIBRARY))
	rm -f $(HEADERS:%=$(incdir)/%)
	for page in $(MAN_PAGES); do rm -f $(mandir)/man$${page##*.}/$$page; done
	rm -f $(DOCS:%=$(docdir)/%) $(DEMO_ALL:%=$(docdir)/demo/%)
	-rmdir $(docdir)/demo $(docdir) $(incdir) 2>/dev/null

clean:
	rm -rf $(OUT) $(DEMO) $(TARGET)/check $(TARGET)/loom
	@$(MAKE) --no-print-directory -C tests-c clean
	$(CARGO) clean
