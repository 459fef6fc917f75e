# The programs about RDMA devices share adapters.c and traffic.c. interop.sh builds interop.c itself, for
# two libraries.
NOT_PROGRAMS += verbs/adapters.c verbs/traffic.c verbs/interop.c verbs/faulty.c

VERBS_SHARED := $(OUT)/verbs/adapters.o $(OUT)/verbs/traffic.o $(OUT)/srq/srq_common.o
VERBS_PROGRAMS := $(patsubst $(TESTDIR)/%.c,$(OUT)/%,\
	$(filter-out %/adapters.c %/traffic.c %/interop.c %/faulty.c,$(wildcard $(TESTDIR)/verbs/*.c)))

$(VERBS_PROGRAMS): $(VERBS_SHARED)
$(VERBS_PROGRAMS): LDFLAGS += $(VERBS_SHARED)
$(VERBS_PROGRAMS:%=%.o) $(VERBS_SHARED): $(TESTDIR)/verbs/adapters.h $(TESTDIR)/verbs/traffic.h

# The first of these makes the devices anew. After the second they may be unusable.
LAST += $(OUT)/verbs/gone $(OUT)/verbs/link

# strange.c calls librdmacm if that is installed.
ifneq ($(wildcard /usr/include/rdma/rdma_cma.h),)
$(OUT)/verbs/strange: LDFLAGS += -lrdmacm -libverbs
endif

# faulty.c puts functions of its own in front of those of both libraries.
ifneq ($(wildcard /usr/include/rdma/rdma_cma.h),)
FAULTY := $(OUT)/verbs/faults $(OUT)/verbs/refused
$(FAULTY): $(OUT)/verbs/faulty.o
$(FAULTY): LDFLAGS += $(OUT)/verbs/faulty.o -rdynamic -Wl,--no-as-needed -lrdmacm -libverbs -ldl
$(FAULTY:%=%.o) $(OUT)/verbs/faulty.o: $(TESTDIR)/verbs/faulty.h
else
NOT_PROGRAMS += verbs/faults.c verbs/refused.c
endif

# ---- Scripts that run the suite on a device ----

NOT_PROGRAMS += verbs/vm.sh verbs/check.sh verbs/dapl2.sh

# ---- A program that conf.sh runs ----

NOT_PROGRAMS += verbs/conf_open.c
EXTRA        += $(OUT)/verbs/conf_open

$(OUT)/verbs/conf_open: $(OUT)/verbs/conf_open.o $(COMMON_OBJ) | libs
	$(CC) $(CFLAGS) -pthread -o $@ $@.o $(COMMON_OBJ) -L$(LIB) $(LDFLAGS) -ldat
