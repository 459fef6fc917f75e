# Programs between two network namespaces share world.c; those about shared receive queues also srq_common.c.
NOT_PROGRAMS += tcp/world.c tcp/within.c

WORLD := $(OUT)/tcp/world.o $(OUT)/srq/srq_common.o
WORLD_PROGRAMS := $(patsubst %,$(OUT)/tcp/%,network reach within)
$(OUT)/tcp/strangers: $(OUT)/srq/srq_common.o
$(OUT)/tcp/strangers: LDFLAGS += $(OUT)/srq/srq_common.o

$(WORLD_PROGRAMS): $(WORLD)
$(WORLD_PROGRAMS): LDFLAGS += $(WORLD)
$(WORLD_PROGRAMS:%=%.o) $(OUT)/tcp/world.o: $(TESTDIR)/tcp/world.h

# ---- Programs that tools.sh runs ----

EXTRA += $(OUT)/tcp/within $(patsubst $(LIBDIR)/../bin/%,$(OUT)/tcp/%,$(wildcard $(LIBDIR)/../bin/dat-p*))

$(OUT)/tcp/within: %: %.o $(COMMON_OBJ) | libs
	$(CC) $(CFLAGS) -pthread -o $@ $@.o $(COMMON_OBJ) -L$(LIB) $(LDFLAGS) $(LDAT)

$(OUT)/tcp/dat-%: $(LIBDIR)/../bin/dat-%
	@mkdir -p $(@D)
	cp $< $@.new && mv $@.new $@
