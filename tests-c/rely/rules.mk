# dlopen.c opens a plug-in that is linked with libdat, and is itself not linked with it.

NOT_PROGRAMS += rely/plugin.c rely/dlopen.c
EXTRA        += $(OUT)/rely/plugin.so
EXTRA_PROGRAMS += $(OUT)/rely/dlopen

$(OUT)/rely/plugin.so: $(TESTDIR)/rely/plugin.c $(HEADERS) | libs
	@mkdir -p $(@D)
	$(COMPILE) -shared -fPIC -o $@ $< -L$(LIB) $(LDAT)

$(OUT)/rely/dlopen: $(OUT)/rely/dlopen.o $(OUT)/common/tap.o $(OUT)/common/text.o \
		$(OUT)/common/env.o $(OUT)/common/peer.o
	$(CC) $(CFLAGS) -pthread -o $@ $^ -ldl

# mpi.c runs over a small message-passing library.
MPI := rely/mpi_connect rely/mpi_ring rely/mpi_messages rely/mpi_together rely/mpi_cache
NOT_PROGRAMS += $(MPI:%=%.c)
$(OUT)/rely/mpi: $(MPI:%=$(OUT)/%.o)
$(OUT)/rely/mpi: LDFLAGS += $(MPI:%=$(OUT)/%.o)
$(OUT)/rely/mpi.o $(MPI:%=$(OUT)/%.o): $(TESTDIR)/rely/mpi.h

VALGRIND_QUICK += rely.mpi rely.emptied rely.first_message
