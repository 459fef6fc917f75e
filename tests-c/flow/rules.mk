# doorbell.c interposes a function of libc.
FENCES := $(OUT)/verbs/doorbell.o $(if $(filter 2.0,$(API)),$(OUT)/v20/extended.o $(OUT)/v20/windows.o)

$(OUT)/flow/fences: $(FENCES)
$(OUT)/flow/fences: LDFLAGS += $(FENCES) -rdynamic
