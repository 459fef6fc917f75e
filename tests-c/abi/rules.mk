# The numbers of layout.c are in files of their own.
$(OUT)/abi/layout.o: $(TESTDIR)/abi/layout.def $(TESTDIR)/abi/layout20.def

# Only 2.0 has extensions.
ifeq ($(API),1.2)
NOT_PROGRAMS += abi/extensions.c
endif
