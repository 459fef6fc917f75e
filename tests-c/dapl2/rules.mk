# The scripts source pairs.sh. their_providers.sh runs probe with two libraries, and pairs.sh runs introduce.
NOT_PROGRAMS += dapl2/pairs.sh dapl2/probe.c dapl2/introduce.c
EXTRA        += $(OUT)/dapl2/probe $(OUT)/dapl2/introduce

$(OUT)/dapl2/probe: $(OUT)/dapl2/probe.o | libs
	$(CC) $(CFLAGS) -o $@ $< -L$(LIB) $(LDAT)

$(OUT)/dapl2/introduce: $(OUT)/dapl2/introduce.o
	$(CC) $(CFLAGS) -o $@ $<
