# weir: `make help` lists the targets.
#
# Builds lie side by side: plain in build/, the others in build/asan, build/tsan,
# build/crash (plain with crash points), build/clang, build/fuzz.

VARIANT ?= plain
DEVELOPER ?= 0
PREFIX ?= /usr/local
LIBEXECDIR ?= $(PREFIX)/libexec/weir
# Where systemd looks for users' units: below /usr and /usr/local in lib, below a user's own ~/.local in share.
UNITDIR ?= $(PREFIX)/$(if $(filter /usr /usr/local,$(PREFIX)),lib,share)/systemd/user
VERSION := 0.1.0
COMMIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)

# What a build needs, and what the tests need besides.
PACKAGES := build-essential pkg-config python3 libsqlite3-dev libjansson-dev libsodium-dev libncurses-dev libreadline-dev libcurl4-openssl-dev \
	libnghttp2-dev libssl-dev libpcre2-dev zlib1g-dev xz-utils
TEST_PACKAGES := libcmocka-dev clang libclang-rt-dev libvterm-dev sqlite3 socat man-db groff-base systemd openssl

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla -Wwrite-strings \
	-Wpointer-arith -Wundef -Wswitch-enum -Wno-missing-field-initializers
HARDENING := -fstack-protector-strong -fPIE -fno-strict-aliasing
OPTIMISE := -O2
CC := gcc

ifeq ($(VARIANT),plain)
B := build
HARDENING += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
else ifeq ($(VARIANT),asan)
B := build/asan
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
OPTIMISE := -O1
SWITCHES := -DWEIR_TEST_SWITCHES
else ifeq ($(VARIANT),tsan)
B := build/tsan
SANITIZE := -fsanitize=thread -fno-omit-frame-pointer
OPTIMISE := -O1
SWITCHES := -DWEIR_TEST_SWITCHES
else ifeq ($(VARIANT),crash)
B := build/crash
SWITCHES := -DWEIR_TEST_SWITCHES
else ifeq ($(VARIANT),clang)
B := build/clang
CC := clang
else ifeq ($(VARIANT),fuzz)
B := build/fuzz
CC := clang
SANITIZE := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
OPTIMISE := -O1
SWITCHES := -DWEIR_TEST_SWITCHES
else
$(error VARIANT is plain, asan, tsan, crash, clang or fuzz)
endif

ifeq ($(DEVELOPER),1)
WARNINGS += -Werror
endif

# What core/google needs stands behind --as-needed: a program that calls none of it does not load it.
LIBS_ENGINE = $(shell pkg-config --libs sqlite3 jansson libsodium libnghttp2 libcurl libssl libcrypto libpcre2-8 zlib) -lm -pthread
LIBS_CLIENT = $(shell pkg-config --libs jansson libsodium libpcre2-8) -lm
LIBS_TUI = $(LIBS_CLIENT) $(shell pkg-config --libs ncursesw readline)
CFLAGS ?= -g
CPPFLAGS += -include core/base/banned.h -Icore -I$(B)/made -D_GNU_SOURCE $(SWITCHES)
ALL_CFLAGS = -std=c17 $(OPTIMISE) $(CFLAGS) $(WARNINGS) $(HARDENING) $(SANITIZE)
ALL_LDFLAGS = $(LDFLAGS) -pie -Wl,-z,relro,-z,now -Wl,--as-needed $(SANITIZE)

CORE_SOURCES := $(filter-out core/engine/main.c core/manual/%,$(wildcard core/*/*.c core/*/*/*.c))
# The client sees base, options and control, nothing else (style of the house: tests/lint/includes.table).
CLIENT_SOURCES := $(filter-out core/base/hash.c,$(wildcard core/base/*.c core/options/*.c core/control/*.c))
MANUAL_SOURCES := $(wildcard core/manual/*.c)
TUI_SOURCES := $(wildcard tui/*.c tui/*/*.c)
UNIT_SOURCES := $(wildcard tests/unit/test_*.c tests/pipeline/test_*.c tests/tui/test_*.c)
FUZZ_SOURCES := $(wildcard tests/fuzz/fuzz_*.c)

CORE_OBJECTS := $(CORE_SOURCES:%.c=$(B)/o/%.o)
CLIENT_OBJECTS := $(CLIENT_SOURCES:%.c=$(B)/o/%.o)
MANUAL_OBJECTS := $(MANUAL_SOURCES:%.c=$(B)/o/%.o)
TUI_OBJECTS := $(TUI_SOURCES:%.c=$(B)/o/%.o)
TUI_LIBRARY := $(filter-out $(B)/o/tui/main.o,$(TUI_OBJECTS))
UNIT_PROGRAMS := $(patsubst tests/%.c,$(B)/tests/%,$(UNIT_SOURCES))
FUZZ_PROGRAMS := $(patsubst tests/fuzz/%.c,$(B)/%,$(FUZZ_SOURCES))

.PHONY: all fast programs manual help deps test-deps demo test soak bench lint docs format fuzz fuzz-programs install clean unit screen accept google FORCE
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

all: deps ## build weir and weird (missing packages are installed first)
	@$(MAKE) --no-print-directory programs

programs: $(B)/weir $(B)/weird

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

$(B)/made/build_info.h: FORCE
	@mkdir -p $(@D)
	@printf '#define WEIR_VERSION "%s"\n#define WEIR_COMMIT "%s"\n#define WEIR_COMPILER "%s"\n#define WEIR_FLAGS "%s"\n' \
		'$(VERSION)' '$(COMMIT)' "$$($(CC) --version | head -n 1 | tr -d '"\\')" '$(OPTIMISE) $(SANITIZE) $(SWITCHES)' > $@.new
	@cmp -s $@ $@.new && rm $@.new || mv $@.new $@
# Paths of the installation: in a header of their own, so that another PREFIX makes anew what depends on it.
$(B)/made/install_paths.h: FORCE
	@mkdir -p $(@D)
	@printf '#define WEIR_LIBEXECDIR "%s"\n' '$(LIBEXECDIR)' > $@.new
	@cmp -s $@ $@.new && rm $@.new || mv $@.new $@
$(B)/o/core/control/start.o: $(B)/made/install_paths.h
FORCE:

# Files that are the defaults themselves, as C strings for #include: keys/default.keys, and all themes with their names.
THEMES := $(sort $(wildcard themes/*.theme))
MADE_THEMES := $(THEMES:themes/%=$(B)/made/%.inc)
MADE_TEXTS := $(B)/made/default.keys.inc $(MADE_THEMES) $(B)/made/themes.inc
define text_to_c
@mkdir -p $(@D)
@sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n"/' $< > $@
endef
$(B)/made/%.keys.inc: keys/%.keys
	$(text_to_c)
$(B)/made/%.theme.inc: themes/%.theme
	$(text_to_c)
$(B)/made/themes.inc: $(MADE_THEMES)
	@for t in $(THEMES:themes/%.theme=%); do printf '{ "%s",\n#include "%s.theme.inc"\n},\n' $$t $$t; done > $@
$(TUI_OBJECTS): | $(MADE_TEXTS)

$(B)/o/tui/%.o: CPPFLAGS += -Itui

$(B)/o/%.o: %.c | $(B)/made/build_info.h $(B)/made/install_paths.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/libcore.a: $(CORE_OBJECTS)
	@rm -f $@
	@ar rcs $@ $^

$(B)/weird: $(B)/o/core/engine/main.o $(B)/libcore.a
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS_ENGINE)

$(B)/weir: $(TUI_OBJECTS) $(CLIENT_OBJECTS)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS_TUI)

# Manual pages and completion, made from the tables by a program of the build (core/manual).
$(B)/manual: $(MANUAL_OBJECTS) $(CLIENT_OBJECTS)
	@$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS_CLIENT)

MANUAL := weir.1 weird.8 weir-job.5
MANUAL_FILES := $(MANUAL:%=$(B)/man/%) $(B)/man/weir.bash $(B)/man/weird.service
$(MANUAL:%=$(B)/man/%): $(B)/man/%: $(B)/manual
	@mkdir -p $(@D)
	@$< $* > $@

$(B)/man/weir.bash: $(B)/manual core/manual/completion.bash
	@mkdir -p $(@D)
	@{ $< weir.bash && cat core/manual/completion.bash; } > $@

$(B)/man/weird.service: core/engine/weird.service $(B)/made/install_paths.h
	@mkdir -p $(@D)
	@sed 's|@LIBEXECDIR@|$(LIBEXECDIR)|' $< > $@

manual: $(MANUAL_FILES)

$(B)/libtui.a: $(TUI_LIBRARY)
	@rm -f $@
	@ar rcs $@ $^

$(B)/tests/tui/%: tests/tui/%.c $(B)/libtui.a $(CLIENT_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itui -Itests $(ALL_CFLAGS) $(ALL_LDFLAGS) -MMD -MP -o $@ $< $(B)/libtui.a $(CLIENT_OBJECTS) $(LIBS_TUI) -lcmocka

# The terminal of the screen tests (tests/screen/README.md).
SCREEN_OBJECTS := $(patsubst %.c,$(B)/o/%.o,$(wildcard tests/screen/*.c))
$(SCREEN_OBJECTS): CPPFLAGS += -Itests
$(B)/tests/screen/terminal: $(SCREEN_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(shell pkg-config --libs vterm) -lutil

screen: $(B)/tests/screen/terminal

# The program that drives core/google, and the servers of Google's own library it is driven against.
GOOGLE_OBJECTS := $(patsubst %.c,$(B)/o/%.o,$(wildcard tests/google/*.c))
$(GOOGLE_OBJECTS): CPPFLAGS += -Itests/google
$(B)/tests/google/drive: $(GOOGLE_OBJECTS) $(B)/libcore.a
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS_ENGINE)

build/emulators: $(wildcard tests/emulators/*.go tests/emulators/*/*.go tests/emulators/go.*)
	@tests/emulators/build.sh $(abspath $@)

# Servers in C, where the Go ones would be what is measured: a program a service, over the same rooms.
FAST_ROOMS := $(patsubst %.c,$(B)/o/%.o,$(wildcard tests/emulators/fast/fast*.c))
FAST_PROGRAMS := $(patsubst tests/emulators/fast/%.c,$(B)/tests/emulators/fast_%,$(filter-out tests/emulators/fast/fast%,$(wildcard tests/emulators/fast/*.c)))
$(FAST_PROGRAMS): $(B)/tests/emulators/fast_%: $(B)/o/tests/emulators/fast/%.o $(FAST_ROOMS)
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(shell pkg-config --libs libnghttp2)

fast: $(FAST_PROGRAMS)

google: $(B)/tests/google/drive fast build/emulators ## the test servers over Google's own library (Go), and what drives core/google against them

# Targets of the console's parts.
FUZZ_OF_TUI := $(patsubst %,$(B)/fuzz_%,keys key_file theme line filter cells)
$(FUZZ_OF_TUI): $(B)/fuzz_%: tests/fuzz/fuzz_%.c $(B)/libtui.a $(CLIENT_OBJECTS)
	$(CC) $(CPPFLAGS) -Itui -Itests $(ALL_CFLAGS) $(ALL_LDFLAGS) -fsanitize=fuzzer -MMD -MP -o $@ $< $(B)/libtui.a $(CLIENT_OBJECTS) $(LIBS_TUI)

$(B)/tests/%: tests/%.c $(B)/libcore.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests $(ALL_CFLAGS) $(ALL_LDFLAGS) -MMD -MP -o $@ $< $(B)/libcore.a $(LIBS_ENGINE) -lcmocka

$(B)/fuzz_%: tests/fuzz/fuzz_%.c $(B)/libcore.a
	$(CC) $(CPPFLAGS) -Itests $(ALL_CFLAGS) $(ALL_LDFLAGS) -fsanitize=fuzzer -MMD -MP -o $@ $< $(B)/libcore.a $(LIBS_ENGINE)

deps: ## install the packages that a build needs, if any is missing
	@tests/deps.sh $(PACKAGES)

test-deps: deps
	@tests/deps.sh $(PACKAGES) $(TEST_PACKAGES)
	@tests/emulators/go.sh --install || [ "$$CI" != true ]

demo: all ## replicate the bundled change stream into a local warehouse and open the console on it
	@tests/demo/demo.sh $(abspath $(B))

test: test-deps ## build every variant and run every test
	@tests/run.sh

soak: test-deps ## every recorded stream (WEIR_DATA=FOLDER) in every way it may be delivered, killed and on failing disks; a day of trouble; growth; hours
	@$(MAKE) --no-print-directory VARIANT=crash programs
	@WEIR_BUILD=build/crash python3 tests/soak/soak.py
	@WEIR_BUILD=build/crash python3 tests/soak/disk.py
	@WEIR_BUILD=build/crash python3 tests/soak/descriptors.py
	@WEIR_BUILD=build/crash python3 tests/soak/damage.py
	@WEIR_BUILD=build/crash python3 tests/soak/day.py
	@WEIR_BUILD=build/crash python3 tests/soak/growth.py
	@WEIR_BUILD=build/crash WEIR_AGAIN=all python3 tests/e2e/run.py test_again.py
	@WEIR_BUILD=build/crash WEIR_CDC_ROWS=100000 WEIR_CDC_FILES=10000 python3 tests/e2e/run.py test_cdc_rows.py test_cdc_letters.py
	@$(MAKE) --no-print-directory programs google
	@WEIR_SEQUENCES=$${WEIR_SEQUENCES:-1000} python3 tests/e2e/run.py test_google.py
	@WEIR_KILLS=$${WEIR_KILLS:-200} python3 tests/e2e/run.py test_pubsub_kills.py
	@WEIR_KILLS=$${WEIR_KILLS:-20} python3 tests/e2e/run.py -k killed_at test_bigquery.py
	@WEIR_BUILD=build/crash WEIR_HISTORIES=$${WEIR_HISTORIES:-1000} python3 tests/e2e/run.py test_property.py

accept: programs screen ## record the screens and texts that tests expect anew; look at the diff
	@WEIR_ACCEPT=1 python3 tests/screen/run.py
	@WEIR_ACCEPT=1 python3 tests/e2e/run.py -k test_texts

bench: all ## measure speed and memory, each figure beside a baseline of the same run
	@$(MAKE) --no-print-directory google || echo "bench: the rows of gRPC need Go (tests/emulators/go.sh --install)"
	@$(B)/weir bench

unit: $(UNIT_PROGRAMS)

lint: ## include directions, words, formatting of what has a formatter here
	@tests/lint/includes.sh && tests/lint/words.sh && tests/lint/readme.sh

docs: $(B)/tests/unit/test_parameters_page $(B)/tests/unit/test_protocol_page manual ## write PARAMETERS.md, PROTOCOL.md and, into build/man, manual pages and completion
	@$< --print > core/options/PARAMETERS.md
	@$(B)/tests/unit/test_protocol_page --print > core/control/PROTOCOL.md
	@tests/lint/screens.py --write

format: ## format all C files by .clang-format
	@clang-format -i $$(git ls-files '*.c' '*.h')

fuzz: ## run each fuzz target (FUZZ_SECONDS, default 60)
	@$(MAKE) --no-print-directory VARIANT=fuzz fuzz-programs
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-60} tests/fuzz/run.sh

fuzz-programs: $(FUZZ_PROGRAMS)

build/test-crash: tests/crash/test-crash.py core/base/crash_points.def
	@cp $< $@ && chmod +x $@

install: programs manual ## install into $(DESTDIR)$(PREFIX)
	install -D -m 755 $(B)/weir $(DESTDIR)$(PREFIX)/bin/weir
	install -D -m 755 $(B)/weird $(DESTDIR)$(LIBEXECDIR)/weird
	install -D -m 644 $(B)/man/weir.1 $(DESTDIR)$(PREFIX)/share/man/man1/weir.1
	install -D -m 644 $(B)/man/weird.8 $(DESTDIR)$(PREFIX)/share/man/man8/weird.8
	install -D -m 644 $(B)/man/weir-job.5 $(DESTDIR)$(PREFIX)/share/man/man5/weir-job.5
	install -D -m 644 $(B)/man/weir.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/weir
	install -D -m 644 $(B)/man/weird.service $(DESTDIR)$(UNITDIR)/weird.service

clean: ## remove all builds
	rm -rf build

-include $(shell find $(B) -name '*.d' 2>/dev/null)
