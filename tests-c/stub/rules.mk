# The variants of the stub provider, and a program that represents another libdat.
NOT_PROGRAMS += stub/provider.c stub/foreign_libdat.c

STUBS := $(addprefix $(OUT)/stub/libstub,.so -other.so -no-init.so -constructor.so -mute.so \
	-twice.so -unresolved.so -forgets.so -wild.so)
EXTRA += $(STUBS) $(OUT)/stub/foreign_libdat

$(OUT)/stub/libstub-other.so:       STUB_FLAGS := -DSTUB_TAG='"-other"'
$(OUT)/stub/libstub-no-init.so:     STUB_FLAGS := -DSTUB_NO_INIT
$(OUT)/stub/libstub-constructor.so: STUB_FLAGS := -DSTUB_CONSTRUCTOR
$(OUT)/stub/libstub-mute.so:        STUB_FLAGS := -DSTUB_MUTE
$(OUT)/stub/libstub-twice.so:       STUB_FLAGS := -DSTUB_TWICE
$(OUT)/stub/libstub-unresolved.so:  STUB_FLAGS := -DSTUB_UNRESOLVED
$(OUT)/stub/libstub-forgets.so:     STUB_FLAGS := -DSTUB_FORGETS
$(OUT)/stub/libstub-wild.so:        STUB_FLAGS := -DSTUB_WILD

# Providers are not linked with libdat; they find it in the process that loads them.
$(STUBS): $(TESTDIR)/stub/provider.c $(HEADERS) $(TESTDIR)/stub/rules.mk
	@mkdir -p $(@D)
	$(COMPILE) $(STUB_FLAGS) -fPIC -fvisibility=hidden -shared -o $@ $<

# The provider that this program loads must find its dat_registry_add_provider.
$(OUT)/stub/foreign_libdat: $(TESTDIR)/stub/foreign_libdat.c $(OUT)/registry/scene_child.o $(HEADERS)
	@mkdir -p $(@D)
	$(COMPILE) -rdynamic -o $@ $< $(OUT)/registry/scene_child.o -ldl

STUB_PROGRAMS := $(OUT)/stub/under_foreign_libdat
$(STUB_PROGRAMS): $(OUT)/registry/scene.o $(OUT)/registry/scene_child.o
$(STUB_PROGRAMS): LDFLAGS += $(OUT)/registry/scene.o $(OUT)/registry/scene_child.o
