# layout.c includes the numbers of layout.rs. The rule converts its Rust macros to C macros.
$(OUT)/abi/layout.o: COMPILE += -I$(OUT)/abi
$(OUT)/abi/layout.o: $(OUT)/abi/layout.def
$(OUT)/abi/layout.def: $(TESTDIR)/abi/layout$(if $(filter 2.0,$(API)),20).rs
	@mkdir -p $(@D)
	sed -n 's/r#//; s/^\([A-Z]*\)!(\(.*\));$$/\1(\2)/p' $< >$@

# Only 2.0 has extensions.
ifeq ($(API),1.2)
NOT_PROGRAMS += abi/extensions.c
endif
