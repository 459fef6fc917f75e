# The numbers of layout.c are in a file of their own.
$(OUT)/abi/layout.o: $(TESTDIR)/abi/layout.def
