# The programs about dat_ep_modify share modify_common.
NOT_PROGRAMS += ep_modify/modify_common.c

MODIFY_PROGRAMS := $(patsubst $(TESTDIR)/%.c,$(OUT)/%,\
	$(filter-out %/modify_common.c,$(wildcard $(TESTDIR)/ep_modify/*.c)))

$(MODIFY_PROGRAMS): $(OUT)/ep_modify/modify_common.o
$(MODIFY_PROGRAMS): LDFLAGS += $(OUT)/ep_modify/modify_common.o
$(MODIFY_PROGRAMS:%=%.o) $(OUT)/ep_modify/modify_common.o: $(TESTDIR)/ep_modify/modify_common.h
