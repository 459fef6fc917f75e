# Programs that use two network namespaces share world.c; strangers.c and gather.c use raw.c.
NOT_PROGRAMS += tcp/world.c tcp/within.c tcp/raw.c tcp/protocol.sh
# Scripts that use two network namespaces share hosts.sh; bad_network.sh runs bulk.c.
NOT_PROGRAMS += tcp/hosts.sh tcp/bulk.c

WORLD := $(OUT)/tcp/world.o $(OUT)/srq/srq_common.o
WORLD_PROGRAMS := $(patsubst %,$(OUT)/tcp/%,network reach within)

# ---- Raw peers ----

TCP_SOURCES := $(ROOT)/src/transport/tcp/src
RAW := $(OUT)/tcp/raw.o $(OUT)/srq/srq_common.o

$(OUT)/tcp/protocol.h: $(TESTDIR)/tcp/protocol.sh $(TCP_SOURCES)/record.rs $(TCP_SOURCES)/hello.rs \
		$(TCP_SOURCES)/handshakes.rs $(ROOT)/src/transport/software/src/wire.rs
	@mkdir -p $(@D)
	$(TESTDIR)/tcp/protocol.sh $(TCP_SOURCES) >$@.new && mv $@.new $@

$(OUT)/tcp/strangers $(OUT)/tcp/gather: $(RAW)
$(OUT)/tcp/strangers $(OUT)/tcp/gather: LDFLAGS += $(RAW)
$(OUT)/tcp/strangers.o $(OUT)/tcp/gather.o $(OUT)/tcp/raw.o: $(TESTDIR)/tcp/raw.h $(OUT)/tcp/protocol.h

# ---- Programs between two network namespaces ----

$(WORLD_PROGRAMS): $(WORLD)
$(WORLD_PROGRAMS): LDFLAGS += $(WORLD)
$(WORLD_PROGRAMS:%=%.o) $(OUT)/tcp/world.o: $(TESTDIR)/tcp/world.h

# ---- Programs that tools.sh and bad_network.sh run ----

EXTRA += $(OUT)/tcp/within $(OUT)/tcp/bulk $(patsubst $(LIBDIR)/../bin/%,$(OUT)/tcp/%,$(wildcard $(LIBDIR)/../bin/dat-p*))

$(OUT)/tcp/within: %: %.o $(COMMON_OBJ) | libs
	$(CC) $(CFLAGS) -pthread -o $@ $@.o $(COMMON_OBJ) -L$(LIB) $(LDFLAGS) $(LDAT)

$(OUT)/tcp/bulk: $(TESTDIR)/tcp/bulk.c
	@mkdir -p $(@D)
	$(COMPILE) -o $@ $<

$(OUT)/tcp/dat-%: $(LIBDIR)/../bin/dat-%
	@mkdir -p $(@D)
	cp $< $@.new && mv $@.new $@
