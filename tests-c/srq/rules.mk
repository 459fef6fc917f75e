# The programs about the shared receive queue share srq_common.
NOT_PROGRAMS += srq/srq_common.c

SRQ_PROGRAMS := $(patsubst $(TESTDIR)/%.c,$(OUT)/%,\
	$(filter-out %/srq_common.c,$(wildcard $(TESTDIR)/srq/*.c)))

$(SRQ_PROGRAMS): $(OUT)/srq/srq_common.o
$(SRQ_PROGRAMS): LDFLAGS += $(OUT)/srq/srq_common.o
$(SRQ_PROGRAMS:%=%.o) $(OUT)/srq/srq_common.o: $(TESTDIR)/srq/srq_common.h

VALGRIND_QUICK += srq.model srq.many srq.stress srq.joining srq.order
