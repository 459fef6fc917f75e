# shared.c uses the helpers of the tests of shared receive queues.
$(OUT)/stress/shared: $(OUT)/srq/srq_common.o
$(OUT)/stress/shared: LDFLAGS += $(OUT)/srq/srq_common.o
$(OUT)/stress/shared.o: $(TESTDIR)/srq/srq_common.h

VALGRIND_QUICK += stress.shared

# watching.c consists of several files.
LANES := stress/lanes stress/lanes_requests stress/lanes_bytes
NOT_PROGRAMS += $(LANES:%=%.c)
$(OUT)/stress/watching: $(LANES:%=$(OUT)/%.o)
$(OUT)/stress/watching: LDFLAGS += $(LANES:%=$(OUT)/%.o)
$(OUT)/stress/watching.o $(LANES:%=$(OUT)/%.o): $(TESTDIR)/stress/lanes.h

VALGRIND_QUICK += stress.watching
