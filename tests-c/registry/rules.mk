# The programs about the registry share scene.c and scene_child.c.
NOT_PROGRAMS += registry/scene.c registry/scene_child.c \
	registry/private_host.c registry/private_plugin.c registry/secure_child.c registry/refused.c registry/choose.c

# Only 2.0 has the functions that these programs test.
ifneq ($(API),2.0)
NOT_PROGRAMS += registry/extension.c registry/related.c
endif

REGISTRY_SHARED := $(OUT)/registry/scene.o $(OUT)/registry/scene_child.o
REGISTRY_PROGRAMS := $(patsubst $(TESTDIR)/%.c,$(OUT)/%,\
	$(filter-out $(NOT_PROGRAMS:%=$(TESTDIR)/%),$(wildcard $(TESTDIR)/registry/*.c)))

$(REGISTRY_PROGRAMS): $(REGISTRY_SHARED)
$(REGISTRY_PROGRAMS): LDFLAGS += $(REGISTRY_SHARED)
$(REGISTRY_PROGRAMS:%=%.o) $(REGISTRY_SHARED): $(TESTDIR)/registry/scene.h

EXTRA += $(OUT)/registry/private_host $(OUT)/registry/private_plugin.so \
	$(OUT)/registry/secure_child $(OUT)/registry/refused $(OUT)/registry/choose

# A program that is not linked with libdat, and a plug-in that is.
$(OUT)/registry/private_host: $(TESTDIR)/registry/private_host.c $(OUT)/registry/scene_child.o
	@mkdir -p $(@D)
	$(COMPILE) -o $@ $< $(OUT)/registry/scene_child.o -ldl

$(OUT)/registry/private_plugin.so: $(TESTDIR)/registry/private_plugin.c \
		$(TESTDIR)/registry/scene_child.c $(HEADERS) | libs
	@mkdir -p $(@D)
	$(COMPILE) -fPIC -shared -o $@ $(filter %.c,$^) -L$(LIB) $(LDAT)

# sandbox.sh runs programs with this one, which has no libdat.
$(OUT)/registry/refused: $(TESTDIR)/registry/refused.c $(TESTDIR)/registry/refuse.h
	@mkdir -p $(@D)
	$(COMPILE) -o $@ $<

$(OUT)/registry/tcp.o: $(TESTDIR)/registry/refuse.h

# hosts.sh runs this program.
$(OUT)/registry/choose: $(OUT)/registry/choose.o $(COMMON_OBJ) | libs
	$(CC) $(CFLAGS) -pthread -o $@ $(filter %.o,$^) -L$(LIB) $(LDAT)

# This program opens libdat itself.
$(OUT)/registry/secure_child: $(TESTDIR)/registry/secure_child.c $(OUT)/registry/scene_child.o
	@mkdir -p $(@D)
	$(COMPILE) -o $@ $< $(OUT)/registry/scene_child.o -ldl
