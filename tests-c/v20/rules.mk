# The programs share these: extended transfers, and memory as peers reach it.
V20_SHARED := datagram extended windows
NOT_PROGRAMS += $(V20_SHARED:%=v20/%.c)

V20_PROGRAMS := $(patsubst $(TESTDIR)/%.c,$(OUT)/%,\
	$(filter-out $(V20_SHARED:%=\%/%.c),$(wildcard $(TESTDIR)/v20/*.c)))
V20_OBJECTS := $(V20_SHARED:%=$(OUT)/v20/%.o)

$(V20_PROGRAMS): $(V20_OBJECTS)
$(V20_PROGRAMS): LDFLAGS += $(V20_OBJECTS)
$(V20_PROGRAMS:%=%.o) $(V20_OBJECTS): $(V20_SHARED:%=$(TESTDIR)/v20/%.h)
