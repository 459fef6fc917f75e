# The programs share life.c. memory.c and exchange.c also have their own malloc, which the libraries must find
# (-rdynamic), and memory.c has device.c.
NOT_PROGRAMS += faults/life.c faults/allocator.c faults/device.c

FAULTS_PROGRAMS := $(patsubst $(TESTDIR)/%.c,$(OUT)/%,\
	$(filter-out $(NOT_PROGRAMS:%=$(TESTDIR)/%),$(wildcard $(TESTDIR)/faults/*.c)))

$(FAULTS_PROGRAMS): $(OUT)/faults/life.o
$(FAULTS_PROGRAMS): LDFLAGS += $(OUT)/faults/life.o
$(OUT)/faults/memory: $(OUT)/faults/allocator.o $(OUT)/faults/device.o
$(OUT)/faults/memory: LDFLAGS += $(OUT)/faults/allocator.o $(OUT)/faults/device.o -rdynamic
$(OUT)/faults/exchange: $(OUT)/faults/allocator.o
$(OUT)/faults/exchange: LDFLAGS += $(OUT)/faults/allocator.o -rdynamic
$(FAULTS_PROGRAMS:%=%.o) $(OUT)/faults/life.o: $(TESTDIR)/faults/life.h
$(OUT)/faults/memory.o $(OUT)/faults/exchange.o $(OUT)/faults/allocator.o $(OUT)/faults/device.o: \
	$(TESTDIR)/faults/allocator.h
$(OUT)/faults/memory.o $(OUT)/faults/device.o: $(TESTDIR)/faults/device.h
