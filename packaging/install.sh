#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# install.sh install|uninstall|built - installs what make has built, or removes it. "built" succeeds if all is built.
#
# make sets these variables: PREFIX, DESTDIR, and LIB, the directory of libraries below PREFIX; OUT and BIN, the
# directories of the built libraries and tools; VERBS; VERSION; STRIP, -s to remove debugging symbols. BASHDIR, ZSHDIR
# and FISHDIR can name other directories below PREFIX for the completions of the shells.
set -eu
umask 022
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.."

table=packaging/libraries.txt
tools='dat-info dat-ping dat-perf'
case $DESTDIR$PREFIX in /*) ;; *) PREFIX=$PWD/$PREFIX ;; esac
to=$DESTDIR$PREFIX
doc=share/doc/libdat
: "${BASHDIR:=share/bash-completion/completions}" "${ZSHDIR:=share/zsh/site-functions}"
: "${FISHDIR:=share/fish/vendor_completions.d}"
# The directories that install created, which uninstall removes.
made=$to/$doc/directories

# libraries: prints the installed names of the libraries of this build, except of those that VERBS excludes.
libraries()
{
    awk -v verbs="$VERBS" '$1 ~ /^[12b]/ && ($7 == "always" || verbs != "0") { print $4, $7 }' $table |
        while read -r file build; do
            [ "$build" = always ] || [ "$VERBS" = 1 ] || [ -e "$OUT/$file" ] || continue
            echo "$file"
        done
}

# files: prints each installed file: how it is made, from what, and its path below PREFIX.
files()
{
    for file in $(libraries); do
        echo "library $file $LIB/$file"
        awk -v file="$file" -v lib="$LIB" '$1 == "link" && $3 == file { print "link", file, lib "/" $2 }' $table
    done
    for tool in $tools; do
        echo "tool $tool bin/$tool"
        echo "data docs/completions/bash/$tool $BASHDIR/$tool"
        echo "data docs/completions/zsh/_$tool $ZSHDIR/_$tool"
        echo "data docs/completions/fish/$tool.fish $FISHDIR/$tool.fish"
    done
    for file in include/dat/*.h include/dat2/*.h; do
        echo "data $file $file"
    done
    for pc in dat dat2; do
        echo "pkgconfig docs/$pc.pc.in $LIB/pkgconfig/$pc.pc"
    done
    for page in docs/man/*.[1357]; do
        echo "data $page share/man/man${page##*.}/${page##*/}"
    done
    # Programs write these operations as macros, which dat_extension_op(3) describes.
    for operation in $(grep -o '^dat_ib_[a-z_]*' docs/man/dat_extension_op.3); do
        echo "page dat_extension_op.3 share/man/man3/$operation.3"
    done
    for file in README.md SECURITY.md CHANGELOG.md LICENSE LICENSE-MIT LICENSE-APACHE LICENSE-THIRD-PARTY \
        dat.conf.example examples/*.c docs/*.md docs/*.svg docs/tracing/*.bt docs/examples/*; do
        echo "data $file $doc/$file"
    done
    for file in tests-c/demo/*.[ch]; do
        echo "data $file $doc/demo/${file##*/}"
    done
}

# directories: prints the directories of the files.
directories()
{
    files | awk '{ sub(/\/[^\/]*$/, "", $3); print $3 }' | sort -u
}

# put KIND FROM FILE: writes FILE.
put()
{
    case $1 in
    library) install ${STRIP:-} -m 755 "$OUT/$2" "$3" ;;
    tool) install ${STRIP:-} -m 755 "$BIN/$2" "$3" ;;
    link) ln -sf "$2" "$3" ;;
    data) install -m 644 "$2" "$3" ;;
    page) echo ".so man3/$2" >"$3" ;;
    pkgconfig)
        # The file names its prefix relative to itself, so that the tree can be moved.
        up=$(echo "$LIB/pkgconfig" | sed 's|[^/][^/]*|..|g')
        sed -e "s|@UP@|$up|" -e "s|@LIB@|$LIB|" -e "s|@VERSION@|$VERSION|" "$2" >"$3"
        ;;
    esac
}

# Installing the sources over themselves would let uninstall remove their headers.
[ "$1" = built ] || [ ! include/dat/dat.h -ef "$to/include/dat/dat.h" ] || {
    echo "make: PREFIX=$PREFIX is the directory of the sources" >&2
    exit 1
}

case $1 in
built)
    for file in $(libraries); do
        [ -e "$OUT/$file" ] || exit 1
    done
    for tool in $tools; do
        [ -e "$BIN/$tool" ] || exit 1
    done
    ;;
install)
    new=$(directories | while read -r directory; do mkdir -pv "$to/$directory"; done)
    [ -n "$DESTDIR" ] || [ -z "$new" ] || echo "$new" | sed "s/^[^']*'\(.*\)'$/\1/" >>"$made"
    files | while read -r kind from file; do
        put "$kind" "$from" "$to/$file"
    done
    docs/links.sh "$to/$doc"
    libraries | grep -q libdaplverbs || [ "$VERBS" = 0 ] ||
        echo "libdaplverbs is left out, since it was not built: see docs/install.md"
    [ -n "$DESTDIR" ] || [ "$(id -u)" != 0 ] || ! command -v ldconfig >/dev/null || ldconfig
    case $DESTDIR$PREFIX in /usr | /usr/local) exit 0 ;; esac
    [ -n "$DESTDIR" ] || printf '%s\n' \
        "libdat is installed in $PREFIX. These commands set the search paths of a shell:" \
        "    export PATH=$PREFIX/bin:\$PATH LD_LIBRARY_PATH=$PREFIX/$LIB" \
        "    export MANPATH=$PREFIX/share/man:\$MANPATH PKG_CONFIG_PATH=$PREFIX/$LIB/pkgconfig"
    ;;
uninstall)
    # Links to other files, perhaps the library of a distribution, stay, and so do directories with other files.
    VERBS=1
    files | while read -r kind from file; do
        [ "$kind" = link ] && [ "$(readlink "$to/$file")" != "$from" ] || rm -f "$to/$file"
    done
    old=$(directories | grep -e "^$doc" -e '^include/' | sed "s|^|$to/|"; cat "$made" 2>/dev/null) || true
    rm -f "$made"
    echo "$old" | sort -ru | while read -r directory; do
        rmdir "$directory" 2>/dev/null || true
    done
    ;;
esac
