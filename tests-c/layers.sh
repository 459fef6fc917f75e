#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# layers.sh - rules for names and dependencies in the sources, and for documents and packaging. A function checks the
# rule in its comment, and prints the violations. Prints TAP.
set -u
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.." || exit 2

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
. "$here/common/tap.sh"

# Shared code contains no version number, no crate of a version, and no name of the C headers. Environment variables are
# quoted.
names_no_version()
{
    ! grep -rnE --include='*.rs' --include=Cargo.toml --exclude-dir='libdapl*' \
        'uDAPL [0-9]|[Vv]ersion [12]\.[0-9]|dat_udat|dat_provider|dat-udat|dat-provider|\<DAT_[A-Z]' \
        src/core src/host src/transport | grep -vE "[\"\`\$]DAT_|, DAT_SHM_VM="
}

# The marks of memory order, one line per place; see marks.sh.
"$here/marks.sh" --places >"$work/places"
cut -f 1 "$work/places" | uniq >"$work/marks"

# Each mark has at least two places, of which at least one contains a reason.
have_partners()
{
    [ -s "$work/marks" ] || { echo 'no marks'; return 1; }
    cut -f 1 "$work/places" | uniq -u | sed 's/$/: has one place/' >"$work/missing"
    awk -F '\t' '{ marks[$1] } $5 != "" { given[$1] }
                 END { for (mark in marks) if (!(mark in given)) print mark ": no place gives a reason" }' \
        "$work/places" >>"$work/missing"
    ! grep . "$work/missing"
}

# Comments refer to existing marks, on one line.
are_there()
{
    grep -rnE --include='*.rs' '\<SYNC( [^a-z]|[^ ]|$)' src >"$work/missing"
    { cat "$work/marks"; echo; grep -rohE --include='*.rs' '\<SYNC [a-z][a-z-]*' src | sed 's/^SYNC //' | sort -u; } |
        awk '/^$/ { named = 1; next } named && !($0 in there) { print $0 ": no place has it" } { there[$0] }' >>"$work/missing"
    ! grep . "$work/missing"
}

# The table in the head of src/host lists all modules.
lists_modules()
{
    sed -n 's/^pub mod \([a-z_]*\);$/\1/p' src/host/src/lib.rs >"$work/modules"
    [ -s "$work/modules" ] || { echo 'no modules'; return 1; }
    while read -r module; do
        grep '^//! |' src/host/src/lib.rs | grep -q "\`$module\`" || echo "$module is not in the table"
    done <"$work/modules" >"$work/missing"
    ! grep . "$work/missing"
}

# Files in the pages for developers exist. `shm/data/tx.rs` is short for src/transport/shm/src/data/tx.rs.
have_files()
{
    find src -name '*.rs' >"$work/files"
    for document in docs/dev/architecture.md docs/dev/memory-order.md; do
        grep -oE '`[a-z0-9_/]+\.rs`' "$document" | tr -d '`' | sort -u | while read -r file; do
            path=$(echo "$file" | sed 's|/|/(src/)?|g')
            grep -qE "(^|/)$path\$" "$work/files" || echo "$document: no file $file"
        done
    done >"$work/missing"
    ! grep . "$work/missing"
}

# The constants in the table of docs/dev/tuning.md are in the files that it names.
have_constants()
{
    find src -name '*.rs' >"$work/files"
    sed -n 's/^| \(`[A-Z].*\), \([a-z_\/]*\)\.rs |.*/\2 \1/p' docs/dev/tuning.md | cut -d '|' -f 1 >"$work/constants"
    [ -s "$work/constants" ] || { echo 'no constants'; return 1; }
    while read -r file names; do
        path=$(echo "$file" | sed 's|/|/(src/)?|g')
        for name in $(echo "$names" | tr -d '`,'); do
            grep -E "(^|/)$path\.rs\$" "$work/files" | xargs grep -q "const $name:" /dev/null || echo "$file.rs: no $name"
        done
    done <"$work/constants" >"$work/missing"
    ! grep . "$work/missing"
}

# If the head of a crate has a list of modules, each module uses only modules of its own item and of later items. Comments,
# test code, and `pub use` do not count: by these, modules name the transport and the sinks of its objects.
go_down()
{
    find src -name lib.rs -exec grep -l 'layers.sh. reads this list' {} + >"$work/heads"
    [ -s "$work/heads" ] || { echo 'no lists'; return 1; }
    while read -r head; do
        crate=${head%/src/lib.rs}
        awk '/^\/\/! \* / { row++; list = 1 }
             !/^\/\/! ( |\* )/ { list = 0 }
             list { while (match($0, /`[a-z_]+`/)) {
                        print substr($0, RSTART + 1, RLENGTH - 2), row
                        $0 = substr($0, RSTART + RLENGTH)
                    } }' "$crate/src/lib.rs" >"$work/rows"
        sed -n 's/^\(pub \)\?mod \([a-z_]*\);$/\2/p' "$crate/src/lib.rs" | grep -vx testing >"$work/modules"
        [ -s "$work/modules" ] || echo "$crate: no modules"
        find "$crate/src" -name '*.rs' -not -name lib.rs -not -name tests.rs -not -name model.rs -not -path '*/testing/*' |
            xargs awk -v crate="$crate" '
                FILENAME == ARGV[1] { row[$1] = $2; next }
                FILENAME == ARGV[2] { if (!($1 in row)) print crate ": " $1 " is not in the list"; next }
                FNR == 1 { own = substr(FILENAME, length(crate) + 6); sub(/[\/.].*/, "", own); test = 0 }
                /^#\[cfg\((all\()?test/ { test = 1 }
                test || /^ *\/\/|^pub use / { next }
                { while (match($0, /crate::[a-z_]+/)) {
                      used = substr($0, RSTART + 7, RLENGTH - 7)
                      if ((used in row) && row[used] < row[own]) print FILENAME ": uses " used
                      $0 = substr($0, RSTART + RLENGTH)
                  } }' "$work/rows" "$work/modules"
    done <"$work/heads" >"$work/missing"
    ! grep . "$work/missing"
}

# The table in src/README.md lists each directory. Manifests only use crates of the directories that it allows.
keep_to_folders()
{
    ls -d src/*/ | cut -d / -f 2 >"$work/folders"
    find src -name Cargo.toml >"$work/manifests"
    xargs awk -v folders="$work/folders" '
        FILENAME == "Cargo.toml" {
            if (match($0, /path = "src\/[a-z0-9]+/)) folder[$1] = substr($0, RSTART + 12, RLENGTH - 12)
            next
        }
        FILENAME == "src/README.md" {
            if (split($0, cell, "|") < 4 || cell[2] !~ /`/) next
            gsub(/[` ]/, "", cell[2])
            uses[cell[2]] = cell[4]
            next
        }
        FNR == 1 { split(FILENAME, part, "/"); own = part[2] }
        /^\[/ { inside = /dependencies/ && !/dev-dependencies/; next }
        inside {
            sub(/[.= ].*/, "")
            if ($0 in folder && folder[$0] != own && uses[own] !~ /^ all $/ && uses[own] !~ "`" folder[$0] "`")
                print FILENAME ": " own " uses " folder[$0]
        }
        END { while ((getline name <folders) > 0) if (!(name in uses)) print "src/README.md: there is no " name }' \
        Cargo.toml src/README.md <"$work/manifests" >"$work/missing"
    ! grep . "$work/missing"
}

# Each external dependency has a comment with its purpose in the manifest.
have_reasons()
{
    find . -name Cargo.toml -not -path './target/*' -not -path './vendor/*' -exec awk '
        FNR == 1 { inside = told = 0 }
        /^\[/ { inside = /dependencies/; told = 0; next }
        /^#/ { told = 1; next }
        inside && /^[a-z0-9_-]+(\.workspace)? *=/ {
            if (!told && !/path = "src\//) print FILENAME ": " $0
            told = 0
        }' {} + >"$work/missing"
    ! grep . "$work/missing"
}

# In both lock files, rdma-sys uses the crate that replaces bindgen 0.59. If a later rdma-sys asks for a newer bindgen, that
# crate is superfluous.
needs_bindgen()
{
    for lock in Cargo.lock src/dev/fuzz/libfuzzer/Cargo.lock; do
        awk -v RS= '/name = "rdma-sys"/ && /"bindgen 0\.59\.99"/ { found = 1 } END { exit !found }' "$lock" || echo "$lock:" \
            'rdma-sys does not use src/transport/verbs/bindgen: remove this crate, and [patch.crates-io] in both manifests'
    done >"$work/missing"
    ! grep . "$work/missing"
}

# docs/performance.md contains the numbers of tests-c/perf/instructions.txt, with commas at thousands.
has_instructions()
{
    grep -q '^send ' tests-c/perf/instructions.txt || return 1
    awk '/^(verbs:)?(send|post_send|dequeue) / || /^(srq|write|wait|post_recv) / {
             print $1, ($2 < 1000 ? $2 : int($2 / 1000) "," sprintf("%03d", $2 % 1000)) }' tests-c/perf/instructions.txt |
        while read -r row number; do
            grep -q "[^0-9,]$number[^0-9,]" docs/performance.md || echo "$row: no number $number"
        done >"$work/missing"
    ! grep . "$work/missing"
}

# wanted SUFFIX: prints the packages and files of packaging/libraries.txt, one pair per line. SUFFIX is the suffix of
# development packages.
wanted()
{
    awk -v suffix="$1" '$1 ~ /^[12b]/ { print $6, $4 } $1 == "link" { sub(/-dev$/, suffix, $4); print $4, $2 }' \
        packaging/libraries.txt | sort
}

# The packaging files contain exactly the libraries and links of packaging/libraries.txt.
have_libraries()
{
    (
        cd packaging/debian && awk '/^usr\/lib\/\*\/lib/ {
            sub(/.*\//, "")
            print substr(FILENAME, 1, length(FILENAME) - length(".install")), $1 }' *.install
    ) | sort >"$work/installed"
    awk '/^%files/ { package = $2 == "-n" ? $3 : "libdat-" $2 }
         sub(/^%{_libdir}\/lib/, "lib") { print package, $1 }' packaging/rpm/libdat.spec | sort >"$work/specified"
    (
        cd packaging/debian && awk '/^lib/ { print $2, $1; if (FILENAME != $2 ".symbols") print FILENAME, $2 }' *.symbols
    ) | sort >"$work/symbols"
    sed -n 's/^Package: //p' packaging/debian/control | sort >"$work/packages"
    wanted -dev | diff - "$work/installed" || { echo 'packaging/debian/*.install differ'; return 1; }
    wanted -devel | diff - "$work/specified" || { echo 'packaging/rpm/libdat.spec differs'; return 1; }
    awk '$1 ~ /^[12b]/ { print $6, $4 }' packaging/libraries.txt | sort | diff - "$work/symbols" || {
        echo 'packaging/debian/*.symbols differ'
        return 1
    }
    wanted -dev | cut -d ' ' -f 1 | uniq | grep -vxF -f "$work/packages" >"$work/missing"
    ! grep . "$work/missing"
}

ok 'what serves every version of the interface names none of them' names_no_version
ok 'each mark SYNC has two places or more, and a reason' have_partners
ok 'what refers to a mark SYNC names one that is there' are_there
ok 'the files that pages for developers name are there' have_files
ok 'the constants in docs/dev/tuning.md are in the files that it names' have_constants
ok 'src/host/src/lib.rs: its table has all modules' lists_modules
ok 'modules use each other from the top of the list in lib.rs to the bottom' go_down
ok 'src/README.md: the crates keep to the folders of its table' keep_to_folders
ok 'each dependency has its reason beside it' have_reasons
ok 'rdma-sys needs the crate that replaces bindgen 0.59' needs_bindgen
ok 'docs/performance.md has the numbers of tests-c/perf/instructions.txt' has_instructions
ok 'packaging has the libraries and links of packaging/libraries.txt' have_libraries
echo "1..$number"
exit $failed
