# Programs share adapters.c and traffic.c. interop.sh builds interop.c for two libraries.
NOT_PROGRAMS += verbs/adapters.c verbs/traffic.c verbs/interop.c verbs/faulty.c verbs/doorbell.c verbs/late_device.c

VERBS_SHARED := $(OUT)/verbs/adapters.o $(OUT)/verbs/traffic.o $(OUT)/srq/srq_common.o
VERBS_PROGRAMS := $(patsubst $(TESTDIR)/%.c,$(OUT)/%,\
	$(filter-out %/adapters.c %/traffic.c %/interop.c %/faulty.c %/doorbell.c %/late_device.c,$(wildcard $(TESTDIR)/verbs/*.c)))

$(VERBS_PROGRAMS): $(VERBS_SHARED)
$(VERBS_PROGRAMS): LDFLAGS += $(VERBS_SHARED)
$(VERBS_PROGRAMS:%=%.o) $(VERBS_SHARED): $(TESTDIR)/verbs/adapters.h $(TESTDIR)/verbs/traffic.h

# strange.c needs librdmacm.
ifneq ($(wildcard /usr/include/rdma/rdma_cma.h),)
$(OUT)/verbs/strange: LDFLAGS += -lrdmacm -libverbs
endif

# faulty.c interposes functions of both libraries.
ifneq ($(wildcard /usr/include/rdma/rdma_cma.h),)
FAULTY := $(OUT)/verbs/faults $(OUT)/verbs/refused $(OUT)/verbs/refused_datagrams
$(FAULTY): $(OUT)/verbs/faulty.o
$(FAULTY): LDFLAGS += $(OUT)/verbs/faulty.o -rdynamic -Wl,--no-as-needed -lrdmacm -libverbs -ldl
$(FAULTY:%=%.o) $(OUT)/verbs/faulty.o: $(TESTDIR)/verbs/faulty.h
# refused_datagrams.c needs uDAPL 2.0.
ifeq ($(API),1.2)
NOT_PROGRAMS += verbs/refused_datagrams.c
else
$(OUT)/verbs/refused_datagrams: $(V20_OBJECTS)
$(OUT)/verbs/refused_datagrams: LDFLAGS += $(V20_OBJECTS)
$(OUT)/verbs/refused_datagrams.o: $(V20_SHARED:%=$(TESTDIR)/v20/%.h)
endif
# blocked.c interposes functions that destroy objects.
$(OUT)/verbs/blocked: LDFLAGS += -rdynamic -Wl,--no-as-needed -lrdmacm -libverbs -ldl
else
NOT_PROGRAMS += verbs/faults.c verbs/refused.c verbs/refused_datagrams.c verbs/blocked.c
endif

# doorbell.c interposes a function of libc.
$(OUT)/verbs/fences: $(OUT)/verbs/doorbell.o
$(OUT)/verbs/fences: LDFLAGS += $(OUT)/verbs/doorbell.o -rdynamic

# check.sh preloads late_device.so if LATE is set.
ifeq ($(LATE),)
NOT_PROGRAMS += verbs/late.c
endif

$(OUT)/verbs/late.o: $(TESTDIR)/verbs/late_device.h
$(OUT)/verbs/late: LDFLAGS += -ldl

LATE_SRC := $(TESTDIR)/verbs/late_device.c $(TESTDIR)/common/chance.c
$(OUT)/verbs/late_device.so: $(LATE_SRC) $(TESTDIR)/verbs/late_device.map $(HEADERS) $(TESTDIR)/verbs/late_device.h
	@mkdir -p $(@D)
	$(COMPILE) -shared -fPIC -Wl,--version-script=$(TESTDIR)/verbs/late_device.map -o $@ $(LATE_SRC) -ldl

# ---- Scripts that run the suite on a device ----

NOT_PROGRAMS += verbs/vm.sh verbs/debian.sh verbs/check.sh verbs/dapl2.sh

# setup.sh runs a uDAPL 2.0 program of Debian.
ifeq ($(API),1.2)
NOT_PROGRAMS += verbs/setup.sh
endif

# ---- Programs that conf.sh and aliases.sh run ----

NOT_PROGRAMS += verbs/conf_open.c verbs/aliases_reach.c
EXTRA        += $(OUT)/verbs/conf_open $(OUT)/verbs/aliases_reach

$(OUT)/verbs/conf_open $(OUT)/verbs/aliases_reach: %: %.o $(COMMON_OBJ) | libs
	$(CC) $(CFLAGS) -pthread -o $@ $@.o $(COMMON_OBJ) -L$(LIB) $(LDFLAGS) $(LDAT)

# ---- Programs that ping.sh runs ----

# dat-ping must reject these. One uses our library, one Debian's.
ifeq ($(API),1.2)
EXTRA += $(OUT)/verbs/connector

$(OUT)/verbs/connector: $(TESTDIR)/tools/connector.c $(HEADERS) | libs
	@mkdir -p $(@D)
	$(COMPILE) -o $@ $< -L$(LIB) $(LDAT)

THEIR_LIBDAT2 := $(if $(DAT_TEST_DAPL2),$(firstword $(wildcard $(DAT_TEST_DAPL2)/usr/lib/*/libdat2.so.2)))
ifneq ($(THEIR_LIBDAT2),)
EXTRA += $(OUT)/verbs/connector2

$(OUT)/verbs/connector2: $(TESTDIR)/tools/connector.c $(HEADERS)
	@mkdir -p $(@D)
	$(COMPILE) -std=c11 -UUDAPL -DUDAPL=20 -o $@ $< $(THEIR_LIBDAT2)
endif
else
# The tools use uDAPL 1.2.
NOT_PROGRAMS += verbs/ping.sh verbs/perf.sh
endif
