# Programs that send packets without the library.
NOT_PROGRAMS += neighbours/raw.c
$(OUT)/neighbours/hostile $(OUT)/neighbours/strangers: $(OUT)/neighbours/raw.o
$(OUT)/neighbours/hostile $(OUT)/neighbours/strangers: LDFLAGS += $(OUT)/neighbours/raw.o
$(OUT)/neighbours/hostile.o $(OUT)/neighbours/strangers.o $(OUT)/neighbours/raw.o: $(TESTDIR)/neighbours/raw.h
