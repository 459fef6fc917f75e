# Programs of both versions of uDAPL. `make check-both` builds the suite for each version and runs
#
#   the programs of this directory, which use both in one process
#   CROSSED: programs of other directories, whose second process is of the other version
#
# The directory is not in SUBJECTS, because it needs both builds.

ifeq ($(API),1.2)

BOTH     := $(OUT)/both
BOTH_OUT := $(OUT)/2.0
BOTH_LIB := $(BOTH_OUT)/$(notdir $(LIB))
OF_2.0   := $(MAKE) --no-print-directory -C $(TESTDIR) API=2.0 OUT=$(BOTH_OUT) LIBDIR=$(LIBDIR)

CROSSED := flow/connect flow/refuse flow/sizes flow/rdma flow/ordering flow/flags flow/late flow/disconnect \
	flow/notify rely/data rely/connections rely/ending srq/order srq/many srq/books

HALF_SRC := $(TESTDIR)/both/half.c $(COMMON_SRC)
HALF     := $(COMPILE) -fPIC -fvisibility=hidden -shared

$(BOTH)/libhalf12.so: $(HALF_SRC) $(HEADERS) $(TESTDIR)/both/half.h | libs
	@mkdir -p $(@D)
	$(HALF) -o $@ $(HALF_SRC) -L$(LIB) -ldat

$(BOTH)/libhalf20.so: $(HALF_SRC) $(HEADERS) $(TESTDIR)/both/half.h | both-libs
	@mkdir -p $(@D)
	$(HALF) -UUDAPL -DUDAPL=$(UDAPL_2.0) -std=$(STD_2.0) -o $@ $(HALF_SRC) -L$(BOTH_LIB) -ldat2

HALVES     := $(BOTH)/libhalf12.so $(BOTH)/libhalf20.so
BOTH_OBJ   := $(BOTH)/meeting.o $(addprefix $(OUT)/common/,tap.o text.o env.o peer.o)
$(addprefix $(BOTH)/,linked.o foreign.o opened.o meeting.o): $(TESTDIR)/both/half.h $(TESTDIR)/both/meeting.h

$(BOTH)/linked $(BOTH)/foreign: $(BOTH)/%: $(BOTH)/%.o $(BOTH_OBJ) $(HALVES)
	$(CC) $(CFLAGS) -pthread -o $@ $(filter %.o,$^) -L$(BOTH) -lhalf12 -lhalf20 -Wl,-rpath,'$$ORIGIN' \
		-Wl,-rpath-link,$(LIB):$(BOTH_LIB)

$(BOTH)/opened: $(BOTH)/opened.o $(BOTH_OBJ) | $(HALVES)
	$(CC) $(CFLAGS) -pthread -o $@ $^ -ldl

BOTH_PROGRAMS := $(addprefix $(BOTH)/,linked opened foreign)

.PHONY: both-libs both-programs both-all check-both
# The versions share a file of each provider, as after an installation, so that one process loads it once.
both-libs: libs
	@$(OF_2.0) libs
	@for file in $(LIB)/libdapl*.so.2; do ln -f $$file $(BOTH_LIB); done

both-programs: both-libs
	@$(OF_2.0) $(CROSSED:%=$(BOTH_OUT)/%) $(BOTH_OUT)/stub/libstub.so

CROSS_12 = $(call matching,$(BOTH_PROGRAMS) $(CROSSED:%=$(OUT)/%))
CROSS_20 = $(call matching,$(CROSSED:%=$(BOTH_OUT)/%))

both-all: $(CROSSED:%=$(OUT)/%) $(BOTH_PROGRAMS) $(OUT)/stub/libstub.so both-programs

check-both: both-all
	@{ echo "1.2, its second processes 2.0, and both in one process:"; \
	$(if $(strip $(CROSS_12)),$(SUITE) --api 1.2 --libdir $(LIB) --others $(BOTH_OUT) --out $(or $(RESULTS),$(OUT))/results-both \
		$(CROSS_12);) \
	echo "2.0, its second processes 1.2:"; \
	$(if $(strip $(CROSS_20)),$(SUITE) --api 2.0 --libdir $(BOTH_LIB) --others $(OUT) \
		--out $(or $(RESULTS),$(OUT))/$(notdir $(BOTH_OUT))/results-both $(CROSS_20);) \
	} | awk '{ print } \
		/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$$/ { runs++; passed += $$1; failed += $$3; skipped += $$5 } \
		END { if (runs != $(words $(firstword $(CROSS_12)) $(firstword $(CROSS_20)))) { print "a run has no end"; failed++ } \
			print passed + 0 " passed, " failed + 0 " failed, " skipped + 0 " skipped"; exit failed > 0 || passed + skipped == 0 }'

endif
