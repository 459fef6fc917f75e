# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   make                builds the libraries in target/lib, and the tools dat-info, dat-ping and dat-perf in target/bin
#   make libraries      builds only some libraries: API="1.2 2.0" selects versions, ONLY="shm tcp verbs" transports;
#                       BUILD=release writes them to target/lib, BUILD=debug to target/debug
#   make demo           builds the libraries, then moves data between two processes; IA=shm
#   make check          runs the steps of tests-c/steps.txt with the tier "check". As root on Debian it first installs
#                       missing packages, unless CHECK_INSTALL=0
#   make check-all      runs all steps: also valgrind, debug builds, models, fuzzing, packages, and an RDMA device in a
#                       virtual machine. For both: KEEP_GOING=1 continues after a failure; SLOW=3 multiplies time limits
#   make steps          lists the steps; STEP="clippy c" runs these
#   make lint           runs the steps for derived files, layers, limits, format, clippy, manual pages
#   make test           runs the Rust tests, and the models of rings, locks and wake-ups
#   make check-c        runs the C suite on one adapter; with TESTS=srq/resize, builds and runs only this program;
#                       IA=shm API=1.2 BUILD=release; BUILD=debug builds in seconds after a change
#   make check-flaky    runs each program of the C suite N=50 times, alongside a busy thread on each CPU; variables as
#                       for check-c
#   make check-tcp      runs the C suite over TCP to this host, for 1.2, 2.0 and both together; with TESTS=pattern, only
#                       for 1.2 and 2.0; IA=tcp-lo
#   make check-verbs    runs the tests that need an RDMA device, on Soft-RoCE in a virtual machine; RDMA=siw on soft-iWARP;
#                       RDMA=NETDEV on a device of this machine; TESTS=pattern; LATE=1 delays requests, as hardware does
#   make check-arm      builds the libraries for 64-bit ARM and runs the tests on an emulated machine; TESTS=pattern
#   make measure        counts the instructions of the fast path; KEEP=1 writes them to tests-c/perf/instructions.txt
#   make bench          compares latency, rates and bandwidth on shm with UCX and with the limits of the machine; prints
#                       a table of ratios, and draws docs/bench.svg. VERBS=1 adds Soft-RoCE and soft-iWARP, or with RDMA
#                       one device, as check-verbs; TCP=1 adds TCP, with fi_pingpong and UCX. QUICK=1 takes under a
#                       minute, and omits verbs. ROUNDS=3, BUDGET=60 or ROWS=pattern runs less, and keeps docs/bench.svg.
#                       AGAINST=DIR compares with the libraries in DIR
#   make fuzz           gives arbitrary input to the parts that read input from outside, MINUTES=10 in total;
#                       TARGETS="node ring" for some targets of src/dev/fuzz
#   make sanitize       runs Rust tests under AddressSanitizer, ThreadSanitizer and miri of a nightly toolchain
#   make trips          counts the functions and files that a call goes through
#   make derived        writes the headers from src/interface, and the manual pages and completions of the tools from
#                       their arguments
#   make limits         compares the sources with tests-c/limits.txt, and prints phrases to avoid
#   make notices        writes LICENSE-THIRD-PARTY: the notices of the crates in the libraries and tools
#   make deny           checks all crates with cargo-deny: the rules of deny.toml, and known vulnerabilities
#   make rust-oldest    checks libraries and tools with the oldest supported compiler; rustup downloads it into target
#   make html           renders the documents and the manual pages as linked HTML in target/html, with python3, pandoc and
#                       mandoc
#   make install        installs what make built, or first builds it; PREFIX=/usr/local DESTDIR= LIB=lib, the directory
#                       for libraries below PREFIX, such as lib/x86_64-linux-gnu
#   make install-strip  installs without debugging symbols
#   make uninstall      removes what make install installed; same variables
#   make deb            builds Debian packages and the bill of materials in target/deb
#   make rpm            builds RPM packages and the bill of materials in target/rpm
#   make sbom           writes only the bill of materials (CycloneDX) in target: the crates in the libraries and tools
#   make dist           writes the sources of the last commit with all crates to target/dist/libdat-VERSION.tar.xz
#   make clean          removes what these targets built
#   make help           prints this list
#
# The build needs cargo, make and a C compiler. It respects CARGO_TARGET_DIR, CC and CFLAGS. The provider verbs also
# needs the development packages of rdma-core, and libclang. VERBS=auto builds verbs if they are installed, and otherwise
# prints a line that it is left out; VERBS=1 fails if they are missing; VERBS=0 neither builds nor installs verbs.

PREFIX  ?= /usr/local
DESTDIR ?=
LIB     ?= lib
IA      ?= shm
API     ?= 1.2 2.0
ONLY    ?=
BUILD   ?= release
VERBS   ?= auto

CARGO  ?= cargo
RUSTC  ?= rustc
CC     ?= cc
CFLAGS ?= -O2 -g
# rustc's allocator takes huge pages. In a virtual machine this can halve the CPU time of a build.
export MALLOC_CONF ?= thp:always,metadata_thp:always

$(if $(filter auto 0 1,$(VERBS)),,$(error VERBS is auto, 1 or 0, not "$(VERBS)"))

# The oldest compiler that will do.
RUST_LEAST := $(shell sed -n 's/^rust-version = "\(.*\)"$$/\1/p' Cargo.toml | head -n 1)
VERSION    := $(shell sed -n 's/^version = "\(.*\)"$$/\1/p' Cargo.toml | head -n 1)

TARGET := $(abspath $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target))
OUT    := $(TARGET)/lib
BIN    := $(TARGET)/bin
export CARGO_TARGET_DIR := $(TARGET)

.PHONY: all tools rust base verbs no-verbs libraries demo check check-all steps lint test xtask check-c check-flaky \
	check-tcp check-verbs check-arm measure bench fuzz sanitize trips html derived limits notices deny rust-oldest \
	install install-strip uninstall built deb rpm sbom dist clean help

# ---- Libraries ----

# crates CONDITION: the crates of the libraries in packaging/libraries.txt for which this condition of awk is true.
crates = $(shell awk '$$1 ~ /^[12b]/ && ($(1)) { print $$2 }' packaging/libraries.txt)
BASE_CRATES  := $(call crates,$$7 == "always")
VERBS_CRATES := $(call crates,$$7 == "verbs")

VERBS_0    = no-verbs
VERBS_1    = verbs
VERBS_auto = $(if $(VERBS_LACKS),no-verbs,verbs)
# The packages that its build lacks here.
VERBS_LACKS = $(strip $(shell src/transport/verbs/needs.sh))

all: $(VERBS_$(VERBS)) tools

# Libraries and tools name no folder of this machine, so that they are the same wherever they are built: other names stand
# for the source tree, the build directory, cargo's registry and the standard library's sources, if the toolchain has them.
REMAP = --remap-path-prefix=$(CURDIR)=/libdat --remap-path-prefix=$(TARGET)=/libdat/target \
	--remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=/cargo \
	--remap-path-prefix=$(shell $(RUSTC) --print sysroot)/lib/rustlib/src/rust=/rustc/$(shell $(RUSTC) -vV | \
		sed -n 's/^commit-hash: //p')
CARGO_BUILD = RUSTFLAGS="$(strip $(RUSTFLAGS) $(REMAP))" $(CARGO) build --locked

# build CRATES: cargo knows what is up to date. Then target/lib gets what has changed.
define build
@$(CARGO_BUILD) --release $(1:%=-p %)
@packaging/place.sh $(TARGET)/release $(OUT) $(1)
endef

# Installs the Debian packages that the build lacks, or names them, before cargo fails in words of its own.
rust:
	@CARGO="$(CARGO)" CC="$(CC)" CHECK_INSTALL="$(CHECK_INSTALL)" packaging/needs.sh --install

base: rust
	$(call build,$(BASE_CRATES))

need_verbs = test -z "$(VERBS_LACKS)" || { \
	echo "libdaplverbs needs these Debian packages: $(VERBS_LACKS)" >&2; exit 1; }

verbs: rust
	@$(need_verbs)
	$(call build,$(BASE_CRATES) $(VERBS_CRATES))

# An older one must not be installed with newer libraries. Links to it that lead nowhere are its other names.
no-verbs: base
	@rm -f $(OUT)/libdaplverbs.so.*; find $(OUT) -xtype l -delete
	@test "$(VERBS)" = 0 || echo \
		"libdaplverbs is left out, since its build needs these packages: $(VERBS_LACKS); see docs/install.md"

# libdat and the providers of the versions in API and of the transports in ONLY. Without ONLY, VERBS applies as for `all`.
CHOSEN = $(call crates,index("$(API) both", $$1) && ("$(ONLY)" == "" || index("libdat $(ONLY)", $$5)) && \
	($$7 == "always" || index(" $(ONLY) $(VERBS_$(VERBS)) ", " verbs ")))
UNKNOWN = $(filter-out 1.2 2.0,$(API)) $(filter-out release debug,$(BUILD)) \
	$(filter-out $(patsubst libdapl%,%,$(BASE_CRATES) $(VERBS_CRATES)),$(ONLY))

libraries: rust
	$(foreach word,$(UNKNOWN),$(error make libraries: unknown value "$(word)" in API="$(API)" ONLY="$(ONLY)" BUILD="$(BUILD)"))
	$(if $(filter $(VERBS_CRATES),$(CHOSEN)),@$(need_verbs))
	$(if $(filter debug,$(BUILD)),$(CARGO) build --locked $(CHOSEN:%=-p %),$(call build,$(CHOSEN)))

# ---- Tools ----

# This is a run of cargo of its own, so that no feature of a crate that the tools ask for comes into the libraries.
tools: rust
	@$(CARGO_BUILD) --profile tools -p dat-tools
	@packaging/place.sh $(TARGET)/tools $(BIN) dat-info dat-ping dat-perf

# ---- Demo ----

DEMO     := $(TARGET)/demo
DEMO_SRC := $(wildcard tests-c/demo/*.c)

$(DEMO): $(DEMO_SRC) $(wildcard tests-c/demo/*.h include/dat/*.h) | base
	@$(CC) -std=c99 -Wall -Wextra -Wpedantic $(CFLAGS) $(CPPFLAGS) -Iinclude -o $@ $(DEMO_SRC) \
		$(LDFLAGS) -L$(OUT) -ldat -Wl,-rpath,$(OUT)

demo: base $(DEMO)
	@$(DEMO) $(IA)

# ---- Checks ----

# The steps and the runner of the C suite are Rust: src/dev/xtask.
XTASK := $(TARGET)/debug/xtask
export XTASK
# With --workspace, its dependencies have the features that the later builds of all crates need, so they are compiled once.
xtask: rust
	@test -x $(XTASK) || echo "make: building the runner of the checks, src/dev/xtask: about a minute"
	@$(CARGO) build --locked --workspace --bin xtask

CHECK = $(XTASK) check $(if $(SLOW),--slow $(SLOW)) $(if $(KEEP_GOING)$(findstring k,$(firstword -$(MAKEFLAGS))),--keep-going)

# Data for incremental builds cost a first build a quarter of its time, so only a target that has them already keeps them.
# The value 1 would also apply to the release build, which becomes slower code.
ifeq ($(wildcard $(TARGET)/debug/incremental/*),)
check check-all: export CARGO_INCREMENTAL := 0
endif

check-all: TIERS = --all
check check-all: xtask
	@IA="$(IA)" RDMA="$(RDMA)" $(CHECK) $(TIERS) --install

steps: xtask
	@$(CHECK) $(if $(STEP),$(STEP:%=--step %),--all --list)

lint: STEP = fmt derived layers limits clippy man
test: STEP = test loom
lint test: xtask
	@$(CHECK) --keep-going $(STEP:%=--step %)

# One version unless the caller names it. Some tests need only libdat and the provider of the adapter; those of the registry
# open others.
check-c check-flaky: API := $(if $(filter file,$(origin API)),1.2,$(API))
PROVIDERS = $(sort $(firstword $(subst -, ,$(IA))) $(if $(findstring registry,$(TESTS)),shm tcp))
check-flaky: FLAKY = $(or $(N),50)
check-flaky: LIMIT = TIMEOUT=600

check-c check-flaky: xtask
	@$(MAKE) --no-print-directory libraries API=$(API) BUILD=$(BUILD) ONLY="$(if $(TESTS),$(PROVIDERS))"
	@$(MAKE) --no-print-directory -C tests-c check -j3 API=$(API) IA=$(IA) BUILD=$(BUILD) FLAKY=$(FLAKY) $(LIMIT) \
		$(if $(TESTS),ONLY="$(PROVIDERS)" TESTS='$(TESTS)')

check-tcp: IA = tcp-lo
check-tcp: all xtask
	@failed=0; for suite in 'check API=1.2' 'check API=2.0' $(if $(TESTS),,check-both); do \
		$(MAKE) --no-print-directory -C tests-c $$suite IA=$(IA) TESTS='$(or $(TESTS),.)' || failed=1; \
	done; exit $$failed

check-verbs: xtask
	@$(MAKE) --no-print-directory all VERBS=1
	@TARGET="$(TARGET)" RDMA="$(RDMA)" TESTS="$(TESTS)" tests-c/verbs/check.sh

check-arm: xtask
	@TARGET="$(TARGET)" TESTS="$(TESTS)" tests-c/arm/check.sh

measure: all xtask
	@$(MAKE) --no-print-directory -C tests-c measure KEEP=$(KEEP)

bench: all xtask
	@TARGET="$(TARGET)" RDMA="$(RDMA)" $(MAKE) --no-print-directory -C tests-c bench VERBS=$(VERBS) TCP=$(TCP)

fuzz:
	@src/dev/fuzz/fuzz.sh "$(or $(MINUTES),10)" $(TARGETS)

sanitize:
	@tests-c/sanitize.sh

trips: xtask
	@$(MAKE) --no-print-directory libraries API=1.2 ONLY=shm BUILD=debug
	@$(MAKE) --no-print-directory -C tests-c trips ONLY=shm BUILD=debug

derived:
	$(CARGO) run --quiet --locked -p dat-derived

limits: xtask
	@$(XTASK) limits

notices:
	packaging/crates.py notices

deny:
	$(CARGO) deny --locked check

# rustup may be the one of the distribution; its own folder gets nothing.
rust-oldest:
	RUSTUP_HOME=$(TARGET)/rustup rustup toolchain install $(RUST_LEAST) --profile minimal --no-self-update
	RUSTUP_HOME=$(TARGET)/rustup RUSTUP_TOOLCHAIN=$(RUST_LEAST) CARGO_TARGET_DIR=$(TARGET)/oldest \
		cargo check --locked -p dat-tools $(patsubst %,-p %,$(BASE_CRATES) $(if $(VERBS_LACKS),,$(VERBS_CRATES)))

html:
	@docs/render.py $(TARGET)/html

help:
	@sed -n '/^#   make /,/^#   make help/s/^#  //p' Makefile

# ---- Install ----

INSTALL = PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" LIB="$(LIB)" OUT="$(OUT)" BIN="$(BIN)" VERBS="$(VERBS)" VERSION="$(VERSION)" \
	packaging/install.sh

# What was built is installed as it is: root may have no cargo, or another one.
built:
	@$(INSTALL) built || $(MAKE) --no-print-directory all

install: built
	@$(INSTALL) install

install-strip: built
	@STRIP=-s $(INSTALL) install

uninstall:
	@$(INSTALL) uninstall

# ---- Packages ----

# Nothing is fetched while a package is built: the crates that are needed came with the first of these commands.
deb rpm:
	@packaging/$@.sh --needs
	@$(MAKE) --no-print-directory all VERBS=1
	packaging/$@.sh $(TARGET)/$@
	@$(MAKE) --no-print-directory sbom SBOM=$(TARGET)/$@

SBOM := $(TARGET)
sbom:
	@if python3 -c 'import tomllib' 2>/dev/null; then packaging/crates.py sbom $(SBOM)/libdat-$(VERSION).cdx.json; \
	else echo "make: the bill of materials is left out: it needs python3 3.11 or newer"; fi

dist:
	@packaging/dist.sh $(TARGET)/dist

clean:
	rm -rf $(OUT) $(BIN) $(DEMO) $(addprefix $(TARGET)/,html deb rpm dist oldest rustup check loom found libfuzzer sanitize)
	@$(MAKE) --no-print-directory -C tests-c clean
	$(CARGO) clean
