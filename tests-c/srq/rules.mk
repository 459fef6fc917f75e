# The programs about the shared receive queue share srq_common. books also uses interrupted.
NOT_PROGRAMS += srq/srq_common.c srq/interrupted.c

SRQ_PROGRAMS := $(patsubst $(TESTDIR)/%.c,$(OUT)/%,\
	$(filter-out %/srq_common.c %/interrupted.c,$(wildcard $(TESTDIR)/srq/*.c)))

$(SRQ_PROGRAMS): $(OUT)/srq/srq_common.o
$(SRQ_PROGRAMS): LDFLAGS += $(OUT)/srq/srq_common.o
$(SRQ_PROGRAMS:%=%.o) $(OUT)/srq/srq_common.o: $(TESTDIR)/srq/srq_common.h

$(OUT)/srq/books: $(OUT)/srq/interrupted.o
$(OUT)/srq/books: LDFLAGS += $(OUT)/srq/interrupted.o
$(OUT)/srq/books.o $(OUT)/srq/interrupted.o: $(TESTDIR)/srq/interrupted.h
ifneq ($(wildcard /usr/include/infiniband/verbs.h),)
$(OUT)/srq/books: LDFLAGS += -libverbs
endif

VALGRIND_QUICK += srq.model srq.many srq.stress srq.joining srq.order
