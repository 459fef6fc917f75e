# The scripts share pairs.sh. A program that their_providers.sh runs with two libraries.
NOT_PROGRAMS += dapl2/pairs.sh dapl2/probe.c
EXTRA        += $(OUT)/dapl2/probe

$(OUT)/dapl2/probe: $(OUT)/dapl2/probe.o | libs
	$(CC) $(CFLAGS) -o $@ $< -L$(LIB) $(LDAT)
