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
#   make derived        writes the headers and the lists of symbols from src/interface, the manual pages and completions
#                       of the tools from their arguments, and the table of transports in architecture.md
#   make limits         compares the sources with tests-c/limits.txt, and prints phrases to avoid
#   make notices        writes LICENSE-THIRD-PARTY: the notices of the crates in the libraries and tools
#   make deny           checks all crates with cargo-deny: the rules of deny.toml, and known vulnerabilities
#   make rust-oldest    checks libraries and tools with the oldest supported compiler; rustup downloads it into target
#   make html           renders the documents and the manual pages as linked HTML in target/html, with python3, pandoc and
#                       mandoc
#   make install        installs what make built, or first builds it; PREFIX=/usr/local DESTDIR= LIB=lib
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
# needs the development packages of rdma-core, and libclang:
#
#   VERBS=auto          builds verbs if they are installed; otherwise prints a line that verbs is left out
#   VERBS=1             fails if they are missing
#   VERBS=0             neither builds nor installs verbs

PREFIX  ?= /usr/local
DESTDIR ?=
# The folder for libraries below PREFIX, such as lib/x86_64-linux-gnu.
LIB     ?= lib
IA      ?= shm
# For `make libraries`.
API     ?= 1.2 2.0
ONLY    ?=
BUILD   ?= release

CARGO  ?= cargo
RUSTC  ?= rustc
CC     ?= cc
CFLAGS ?= -O2 -g
# rustc's allocator takes huge pages. In a virtual machine this can halve the CPU time of a build.
export MALLOC_CONF ?= thp:always,metadata_thp:always

VERBS ?= auto
ifeq ($(filter auto 0 1,$(VERBS)),)
$(error VERBS is auto, 1 or 0, not "$(VERBS)")
endif

# The oldest compiler that will do.
RUST_LEAST := $(shell sed -n 's/^rust-version = "\(.*\)"$$/\1/p' Cargo.toml | head -n 1)
VERSION   := $(shell sed -n 's/^version = "\(.*\)"$$/\1/p' Cargo.toml | head -n 1)
# The rows of the table of libraries. A word of LIBRARIES and VERBS_LIBRARIES is VERSION:KIND:CRATE:OUTPUT:FILE, a word of LINKS
# is LINK:FILE.
TABLE := packaging/libraries.txt
rows   = $(shell awk '/^[0-9]/ && $$7 == "$(1)" { print $$1 ":" $$5 ":" $$2 ":" $$3 ":" $$4 }' $(TABLE))
LIBRARIES       := $(call rows,always)
VERBS_LIBRARIES := $(call rows,verbs)
LINKS := $(shell awk '/^[0-9]/ && $$8 != "-" { for (i = 8; i <= NF; i++) print $$i ":" $$4 }' $(TABLE))

TOOLS := dat-info dat-ping dat-perf

# field N,LIST: part N of each word of the list; parts are divided by colons.
field       = $(foreach entry,$(2),$(word $(1),$(subst :, ,$(entry))))
FILES       := $(call field,5,$(LIBRARIES))
VERBS_FILES := $(call field,5,$(VERBS_LIBRARIES))
# links FILES: the links that lead to these files.
links = $(filter $(addprefix %:,$(1)),$(LINKS))

TARGET := $(abspath $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target))
OUT    := $(TARGET)/lib
BIN    := $(TARGET)/bin
export CARGO_TARGET_DIR := $(TARGET)

.PHONY: all tools rust base verbs no-verbs libraries demo check check-all steps lint test xtask check-c check-flaky check-tcp check-verbs check-arm measure bench fuzz sanitize trips \
	html derived limits notices deny rust-oldest built elsewhere install install-strip uninstall deb rpm sbom dist clean help

VERBS_0    = no-verbs
VERBS_1    = verbs
VERBS_auto = $(if $(VERBS_LACKS),no-verbs,verbs)
# The packages that its build lacks here.
VERBS_LACKS = $(strip $(shell src/transport/verbs/needs.sh))

all: $(VERBS_$(VERBS)) tools

# Libraries and tools name no folder of this machine, so that they are the same wherever they are built: other names stand
# for the source tree, the build directory, cargo's registry and the standard library's sources, if the toolchain has them.
REMAP = $(foreach pair, \
	$(CURDIR):libdat \
	$(TARGET):libdat/target \
	$(or $(CARGO_HOME),$(HOME)/.cargo):cargo \
	$(shell $(RUSTC) --print sysroot)/lib/rustlib/src/rust:rustc/$(shell $(RUSTC) -vV | sed -n 's/^commit-hash: //p'), \
	--remap-path-prefix=$(firstword $(subst :, ,$(pair)))=/$(lastword $(subst :, ,$(pair))))
CARGO_BUILD = RUSTFLAGS="$(strip $(RUSTFLAGS) $(REMAP))" $(CARGO) build

# replace FROM,TO: the shell commands that put a file in the place of another one if it differs: it is copied
# beside the old one and moved, so that programs that run keep theirs.
replace = cmp -s $(1) $(2) || { cp $(1) $(2).new && mv $(2).new $(2); } || exit 1

# ---- Libraries ----

crates = $(patsubst %,-p %,$(call field,3,$(1)))

# build LIBRARIES: cargo knows what is up to date. Then target/lib gets what has changed.
define build
@$(CARGO_BUILD) --release --locked $(call crates,$(1))
@mkdir -p $(OUT)
@for names in $(foreach entry,$(1),$(call field,4,$(entry)):$(call field,5,$(entry))); do \
	from=$(TARGET)/release/$${names%:*} to=$(OUT)/$${names#*:}; \
	$(call replace,$$from,$$to); \
done
@for names in $(call links,$(call field,5,$(1))); do ln -sf $${names#*:} $(OUT)/$${names%:*} || exit 1; done
endef

# Installs the Debian packages that the build lacks, or names them, before cargo fails in words of its own.
rust:
	@lacks() { CARGO="$(CARGO)" CC="$(CC)" packaging/needs.sh | tr '\n' ' '; }; \
	needs=$$(lacks); \
	if test -z "$$needs"; then exit 0; fi; \
	if test "$(CHECK_INSTALL)" != 0 && test "$$(id -u)" = 0 && command -v apt-get >/dev/null; then \
		echo "make: installing Debian packages (CHECK_INSTALL=0 prevents it): $$needs"; \
		log=$$(mktemp); { apt-get -q update && DEBIAN_FRONTEND=noninteractive \
			apt-get -q -y --no-install-recommends install $$needs; } >"$$log" 2>&1 || tail -n 5 "$$log" >&2; \
		rm "$$log"; \
		needs=$$(lacks); \
		if test -z "$$needs"; then exit 0; fi; \
	fi; \
	echo "make: the build needs a C compiler, lld, and cargo and rustc $(RUST_LEAST) or newer. Debian's packages:" >&2; \
	echo "    sudo apt-get install $$needs" >&2; \
	echo "https://rustup.rs also has compilers, with lld" >&2; \
	exit 1

base: rust
	$(call build,$(LIBRARIES))

need_verbs = test -z "$(VERBS_LACKS)" || { \
		echo "libdaplverbs needs these Debian packages: $(VERBS_LACKS)" >&2; exit 1; }

verbs: rust
	@$(need_verbs)
	$(call build,$(LIBRARIES) $(VERBS_LIBRARIES))

# An older one must not be installed with newer libraries.
no-verbs: base
	@rm -f $(addprefix $(OUT)/,$(VERBS_FILES) $(call field,1,$(call links,$(VERBS_FILES))))
	@test "$(VERBS)" = 0 || echo \
		"libdaplverbs is left out, since its build needs these packages: $(VERBS_LACKS); see docs/install.md"

# libdat and the providers of the versions in API and of the transports in ONLY. Without ONLY, VERBS applies as for `all`.
CHOSEN = $(filter $(foreach api,$(API),$(if $(ONLY),$(foreach kind,libdat $(ONLY),$(api):$(kind):%),$(api):%)),$(LIBRARIES) \
	$(if $(filter verbs,$(ONLY) $(VERBS_$(VERBS))),$(VERBS_LIBRARIES)))
# Values that the table of libraries does not contain.
UNKNOWN = $(filter-out $(call field,1,$(LIBRARIES)),$(API)) \
	$(filter-out $(call field,2,$(LIBRARIES) $(VERBS_LIBRARIES)),$(ONLY)) $(filter-out release debug,$(BUILD))

libraries: rust
	$(foreach word,$(UNKNOWN),$(error make libraries: unknown value "$(word)" in API="$(API)" ONLY="$(ONLY)" BUILD="$(BUILD)"))
	$(if $(filter $(VERBS_LIBRARIES),$(CHOSEN)),@$(need_verbs))
	$(if $(filter debug,$(BUILD)),$(CARGO) build --locked $(call crates,$(CHOSEN)),$(call build,$(CHOSEN)))

# ---- Tools ----

# This is a run of cargo of its own, so that no feature of a crate that the tools ask for comes into the libraries.
tools: rust
	@$(CARGO_BUILD) --profile tools --locked -p dat-tools
	@mkdir -p $(BIN)
	@for tool in $(TOOLS); do $(call replace,$(TARGET)/tools/$$tool,$(BIN)/$$tool); done

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

check: xtask
	@IA="$(IA)" $(CHECK) --install

check-all: xtask
	@IA="$(IA)" RDMA="$(RDMA)" $(CHECK) --all --install

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
	@failed=; \
	for suite in 'check API=1.2' 'check API=2.0' $(if $(TESTS),,check-both); do \
		$(MAKE) --no-print-directory -C tests-c $$suite IA=$(IA) TESTS='$(or $(TESTS),.)' || failed=1; \
	done; \
	test -z "$$failed"

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
		cargo check --locked -p dat-tools $(call crates,$(LIBRARIES) $(if $(VERBS_LACKS),,$(VERBS_LIBRARIES)))

html:
	@for tool in python3 pandoc mandoc; do \
		command -v $$tool >/dev/null || { echo "make html needs $$tool: install Debian's package $$tool" >&2; exit 1; }; \
	done
	@docs/render.py $(TARGET)/html

help:
	@sed -n '/^#   make /,/^#   make help/s/^#  //p' Makefile

# ---- Install ----

bindir := $(DESTDIR)$(PREFIX)/bin
libdir := $(DESTDIR)$(PREFIX)/$(LIB)
incdir := $(DESTDIR)$(PREFIX)/include
mandir := $(DESTDIR)$(PREFIX)/share/man
docdir := $(DESTDIR)$(PREFIX)/share/doc/libdat
# Where the shells look for the completion of arguments.
bashdir := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
zshdir  := $(DESTDIR)$(PREFIX)/share/zsh/site-functions
fishdir := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d

DOCS      := README.md SECURITY.md CHANGELOG.md LICENSE LICENSE-MIT LICENSE-APACHE LICENSE-THIRD-PARTY dat.conf.example
# The operations that programs write as macros; their pages lead to that of the function.
OPERATIONS := $(addsuffix .3,$(shell grep -o '^dat_ib_[a-z_]*' docs/man/dat_extension_op.3))
MAN_PAGES := $(notdir $(wildcard docs/man/*.[1357])) $(OPERATIONS)
HEADERS   := $(patsubst include/%,%,$(wildcard include/dat/*.h include/dat2/*.h))
PC_FILES  := dat.pc dat2.pc
DEMO_ALL  := $(notdir $(wildcard tests-c/demo/*.[ch]))
TRACING   := $(notdir $(wildcard docs/tracing/*.bt))
EXAMPLES  := $(notdir $(wildcard docs/examples/*))
PROGRAMS  := $(wildcard examples/*.c)
# The pages for users; those for contributors, in docs/dev, are not installed.
PAGES     := $(notdir $(wildcard docs/*.md docs/*.svg))

# The way from LIB/pkgconfig up to PREFIX. The files of pkg-config name their prefix relative to themselves,
# so that the tree can be moved.
empty :=
space := $(empty) $(empty)
UP    := $(subst $(space),/,$(patsubst %,..,$(subst /, ,$(LIB)/pkgconfig)))

# What was built is installed as it is: root may have no cargo, or another one.
built:
	@ls $(addprefix $(OUT)/,$(FILES) $(if $(filter 1,$(VERBS)),$(VERBS_FILES))) $(TOOLS:%=$(BIN)/%) >/dev/null 2>&1 || \
		$(MAKE) --no-print-directory all

FOLDERS := $(bindir) $(libdir)/pkgconfig $(incdir)/dat $(incdir)/dat2 $(docdir)/demo $(docdir)/examples $(docdir)/docs/tracing \
	$(docdir)/docs/examples $(foreach s,1 3 5 7,$(mandir)/man$(s)) $(bashdir) $(zshdir) $(fishdir)
# Those that were not there before, one a line, so that uninstall removes them.
MADE    := $(docdir)/folders
INSTALL_PROGRAM = install -m 755

# If the sources were installed over themselves, uninstall would remove their headers.
elsewhere:
	@test ! include/dat/dat.h -ef $(incdir)/dat/dat.h || { echo "make: PREFIX=$(PREFIX) is the directory of the sources" >&2; exit 1; }

install: elsewhere built
	@made=$$(umask 022; LC_ALL=C mkdir -pv $(FOLDERS)) || exit 1; \
	test -n "$(DESTDIR)" || test -z "$$made" || echo "$$made" | sed "s/^[^']*'\(.*\)'$$/\1/" >>$(MADE)
	@$(INSTALL_PROGRAM) $(TOOLS:%=$(BIN)/%) $(bindir)
	@$(INSTALL_PROGRAM) $(FILES:%=$(OUT)/%) $(libdir)
	@for names in $(call links,$(FILES)); do ln -sf $${names#*:} $(libdir)/$${names%:*} || exit 1; done
	@if test "$(VERBS)" != 0 && test -e $(OUT)/$(firstword $(VERBS_FILES)); then \
		$(INSTALL_PROGRAM) $(VERBS_FILES:%=$(OUT)/%) $(libdir) || exit 1; \
		for names in $(call links,$(VERBS_FILES)); do ln -sf $${names#*:} $(libdir)/$${names%:*} || exit 1; done; \
	elif test "$(VERBS)" != 0; then \
		echo "libdaplverbs is left out, since it was not built: see docs/install.md"; \
	fi
	@for header in $(HEADERS); do install -m 644 include/$$header $(incdir)/$$header || exit 1; done
	@for pc in $(PC_FILES); do \
		sed -e 's|@UP@|$(UP)|' -e 's|@LIB@|$(LIB)|' -e 's|@VERSION@|$(VERSION)|' docs/$$pc.in \
			>$(libdir)/pkgconfig/$$pc && chmod 644 $(libdir)/pkgconfig/$$pc || exit 1; \
	done
	@for s in 1 3 5 7; do install -m 644 docs/man/*.$$s $(mandir)/man$$s || exit 1; done
	@for page in $(OPERATIONS); do \
		echo '.so man3/dat_extension_op.3' >$(mandir)/man3/$$page && chmod 644 $(mandir)/man3/$$page || exit 1; \
	done
	@install -m 644 $(TOOLS:%=docs/completions/bash/%) $(bashdir)
	@install -m 644 $(TOOLS:%=docs/completions/zsh/_%) $(zshdir)
	@install -m 644 $(TOOLS:%=docs/completions/fish/%.fish) $(fishdir)
	@install -m 644 $(DOCS) $(docdir)
	@install -m 644 $(DEMO_ALL:%=tests-c/demo/%) $(docdir)/demo
	@install -m 644 $(PROGRAMS) $(docdir)/examples
	@install -m 644 $(PAGES:%=docs/%) $(docdir)/docs
	@install -m 644 $(TRACING:%=docs/tracing/%) $(docdir)/docs/tracing
	@install -m 644 $(EXAMPLES:%=docs/examples/%) $(docdir)/docs/examples
	@docs/links.sh $(docdir)
	@if test -z "$(DESTDIR)" && test "$$(id -u)" = 0 && command -v ldconfig >/dev/null; then \
		ldconfig; \
	fi
	@test -n "$(DESTDIR)$(filter /usr /usr/local,$(PREFIX))" || printf '%s\n' \
		'libdat is installed in $(abspath $(PREFIX)). These commands set the search paths of a shell:' \
		'    export PATH=$(abspath $(PREFIX))/bin:$$PATH LD_LIBRARY_PATH=$(abspath $(PREFIX))/$(LIB)' \
		'    export MANPATH=$(abspath $(PREFIX))/share/man:$$MANPATH PKG_CONFIG_PATH=$(abspath $(PREFIX))/$(LIB)/pkgconfig'

install-strip:
	@$(MAKE) --no-print-directory install INSTALL_PROGRAM='install -s -m 755'

# Removes what install made, also the directories, unless something else is in them. A link that leads elsewhere, perhaps to
# the library of a distribution, stays.
uninstall: elsewhere
	@for names in $(LINKS); do \
		test "$$(readlink $(libdir)/$${names%:*})" != $${names#*:} || rm -f $(libdir)/$${names%:*}; \
	done
	@rm -f $(addprefix $(libdir)/,$(FILES) $(VERBS_FILES) $(PC_FILES:%=pkgconfig/%))
	@rm -f $(TOOLS:%=$(bindir)/%) $(TOOLS:%=$(bashdir)/%) $(TOOLS:%=$(zshdir)/_%) $(TOOLS:%=$(fishdir)/%.fish)
	@rm -f $(HEADERS:%=$(incdir)/%)
	@for page in $(MAN_PAGES); do rm -f $(mandir)/man$${page##*.}/$$page; done
	@rm -f $(DOCS:%=$(docdir)/%) $(DEMO_ALL:%=$(docdir)/demo/%) $(PROGRAMS:%=$(docdir)/%)
	@rm -f $(PAGES:%=$(docdir)/docs/%) $(TRACING:%=$(docdir)/docs/tracing/%) $(EXAMPLES:%=$(docdir)/docs/examples/%)
	@made=$$(sort -r $(MADE) 2>/dev/null); rm -f $(MADE); \
	for folder in $(docdir)/demo $(docdir)/examples $(docdir)/docs/tracing $(docdir)/docs/examples $(docdir)/docs $(docdir) $(incdir)/dat \
		$(incdir)/dat2 $$made; do \
		rmdir $$folder 2>/dev/null; \
	done; true

# ---- Packages ----

# Nothing is fetched while a package is built: the crates that are needed came with the first of these commands.
deb rpm:
	@packaging/$@.sh --needs
	@$(MAKE) --no-print-directory all VERBS=1
	packaging/$@.sh $(TARGET)/$@
	@$(MAKE) --no-print-directory sbom SBOM=$(TARGET)/$@

# An older python3 has no tomllib; packages are the same without this file.
SBOM := $(TARGET)
sbom:
	@if python3 -c 'import tomllib' 2>/dev/null; then \
		packaging/crates.py sbom $(SBOM)/libdat-$(VERSION).cdx.json; \
	else \
		echo "make: the bill of materials is left out: it needs python3 3.11 or newer"; \
	fi

dist:
	@packaging/dist.sh $(TARGET)/dist

clean:
	rm -rf $(TARGET)/html $(TARGET)/deb $(TARGET)/rpm $(TARGET)/dist $(TARGET)/oldest $(TARGET)/rustup $(OUT) $(BIN) $(DEMO) $(TARGET)/check $(TARGET)/loom $(TARGET)/found $(TARGET)/libfuzzer $(TARGET)/sanitize
	@$(MAKE) --no-print-directory -C tests-c clean
	$(CARGO) clean
