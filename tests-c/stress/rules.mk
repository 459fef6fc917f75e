# shared.c uses the helpers of the programs about the shared receive queue.
$(OUT)/stress/shared: $(OUT)/srq/srq_common.o
$(OUT)/stress/shared: LDFLAGS += $(OUT)/srq/srq_common.o
$(OUT)/stress/shared.o: $(TESTDIR)/srq/srq_common.h

VALGRIND_QUICK += stress.shared

# watching.c takes what goes to and fro from the files about lanes.
LANES := stress/lanes stress/lanes_requests stress/lanes_bytes
NOT_PROGRAMS += $(LANES:%=%.c)
$(OUT)/stress/watching: $(LANES:%=$(OUT)/%.o)
$(OUT)/stress/watching: LDFLAGS += $(LANES:%=$(OUT)/%.o)
$(OUT)/stress/watching.o $(LANES:%=$(OUT)/%.o): $(TESTDIR)/stress/lanes.h

VALGRIND_QUICK += stress.watching
