# shared.c uses the helpers of the programs about the shared receive queue.
$(OUT)/stress/shared: $(OUT)/srq/srq_common.o
$(OUT)/stress/shared: LDFLAGS += $(OUT)/srq/srq_common.o
$(OUT)/stress/shared.o: $(TESTDIR)/srq/srq_common.h

VALGRIND_QUICK += stress.shared
