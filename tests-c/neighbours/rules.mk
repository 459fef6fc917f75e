# Programs that send packets without the library.
NOT_PROGRAMS += neighbours/raw.c
$(OUT)/neighbours/hostile $(OUT)/neighbours/strangers: $(OUT)/neighbours/raw.o
$(OUT)/neighbours/hostile $(OUT)/neighbours/strangers: LDFLAGS += $(OUT)/neighbours/raw.o
$(OUT)/neighbours/hostile.o $(OUT)/neighbours/strangers.o $(OUT)/neighbours/raw.o: $(TESTDIR)/neighbours/raw.h

# The protocol version of the library, so that a new version changes no test.
WIRE := $(ROOT)/src/transport/shm/src/meeting/wire.rs
$(OUT)/neighbours/raw.o: COMPILE += -DWIRE_VERSION=$(shell sed -n 's/^pub const VERSION: u32 = \([0-9]*\);/\1/p' $(WIRE))
$(OUT)/neighbours/raw.o: $(WIRE)
