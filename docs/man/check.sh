#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Checks the manual pages against the interface, the headers and the code, and
# the tests that docs/compat.md names.
#
# usage: docs/man/check.sh [RESULTS [RESULTS-OF-2.0...]]
#
# RESULTS is where the C suite left its outputs, tests-c/build/results-shm: with
# it, each subtest that docs/compat.md names must have passed. The others are
# those of its run for uDAPL 2.0, tests-c/build/2.0/results-shm, and of programs
# of both versions, tests-c/build/results-both: with them, each that the chapter
# on 2.0 names.
#
# Writes TAP. Exit status 0 if nothing failed. mandoc, groff and a C compiler
# ($CC, default cc) are used where they are installed; what cannot be checked
# without them, or without include/dat, is skipped with the reason.

LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd) || exit 2
include=$here/../../include
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
trap 'exit 2' HUP INT TERM

# What libdat.so.1 exports, and what only libdat2.so.2 does: the names are part
# of the binary interface and never change.
abi=$here/../../tests-c/abi
exported=$(cat "$abi/symbols.txt") || exit 2
later=$(cat "$abi/symbols20.txt" "$abi/symbols20_full.txt" | grep -vxF "$exported") || exit 2
# A macro, and what provider libraries export.
others='dat_ia_open dat_provider_init dat_provider_fini'
# Inline functions of the headers of 2.0.
later="$later dat_strerror_extension dat_strerror_ext_status"
tools='dat-info.1 dat-ping.1 dat-perf.1'
transports=$(awk '$1 == "both" { print $2 ".7" }' "$here/../../packaging/libraries.txt" | sort -u)
[ -n "$transports" ] || exit 2
overviews="dat.conf.5 dat_provider.7 $transports libdat.7 libdat2.7"
# The functions of the shared receive queue, and dat_ep_modify: an example each.
with_example='dat_ia_open dat_ep_connect dat_ep_create dat_ep_modify
dat_ep_post_send dat_evd_dequeue dat_evd_wait dat_lmr_create dat_cr_accept
dat_srq_create dat_srq_free dat_srq_post_recv dat_srq_query dat_srq_resize
dat_srq_set_lw'
# Names that pages mention because no header has them, and environment variables.
not_in_headers='DAT_COMPLETION_NOTIFICATION_SUPPRESS_FLAG DAT_SRQ_IN_USE
DAT_OVERRIDE DAT_LOG DAT_DBG_TYPE DAT_DBG_DEST DAT_IB_IMMED_DATA DAT_SHM_VM DAT_VERBS_SRQ_BACKLOG
DAT_IA_FIELD_IA_MAX_DTO_PER_OP DAT_RETURN DAT_2'
# Named attributes and counters without a macro. Their names are only in the code.
attributes=$(sed -n 's/^ *(c"\(DAT_[A-Z_]*\)", .*/\1/p' "$here/../../src/provider/src/v20/named.rs")
not_in_headers="$not_in_headers $attributes $(sed -n 's/^ *c"\(DAT_COUNTER_[A-Z_]*\)",$/\1/p' "$here/../../src/provider/src/counted.rs")"

count=0
passed=0
failed=0
skipped=0

# result NAME FILE: passes if FILE is empty; otherwise shows it.
result() {
    count=$((count + 1))
    if [ -s "$2" ]; then
        failed=$((failed + 1))
        echo "not ok $count - $1"
        sed 's/^/#   /' "$2"
    else
        passed=$((passed + 1))
        echo "ok $count - $1"
    fi
    : >"$tmp/out"
}

# skip NAME REASON
skip() {
    count=$((count + 1))
    skipped=$((skipped + 1))
    echo "ok $count - $1 # SKIP $2"
}

# section PAGE HEADING: the source lines under the heading.
section() {
    awk -v want="$2" '
        /^\.SH / { inside = (substr($0, 5) == want); next }
        inside { print }' "$1"
}

# names FILE...: the DAT_ names in the text, without comments, one a line.
# A name that ends in an underscore stands for a family and is left out.
names() {
    sed -e '/^\.\\"/d' -e '/^\.TH /d' -e 's/\\[-&e]/ /g' -e 's/\\f[BIRP]/ /g' "$@" |
        tr -c 'A-Za-z0-9_' '\n' | grep '^DAT_[A-Z0-9_]*[A-Z0-9]$' | sort -u
}

# examples PAGE: writes each example that includes a header to $tmp/ex.N.c.
examples() {
    rm -f "$tmp"/ex.*.c
    section "$1" EXAMPLE | awk -v out="$tmp/ex." '
        /^\.EX$/ { inside = 1; n++; next }
        /^\.EE$/ { inside = 0; next }
        inside {
            gsub(/\\\(aq/, "\047"); gsub(/\\\(ha/, "^")
            gsub(/\\\(ti/, "~"); gsub(/\\\(ga/, "`")
            gsub(/\\&/, ""); gsub(/\\-/, "-"); gsub(/\\e/, "\\")
            print > (out n ".c")
        }'
    for example in "$tmp"/ex.*.c; do
        [ -e "$example" ] || continue
        grep -q '^#include <dat2*/' "$example" || rm "$example"
    done
}

: >"$tmp/out"

for name in $exported $later $others; do
    [ -f "$here/$name.3" ] || echo "$name.3 is missing" >>"$tmp/out"
done
for page in $overviews $tools; do
    [ -f "$here/$page" ] || echo "$page is missing" >>"$tmp/out"
done
result 'a page for each function, overview and tool' "$tmp/out"

for path in "$here"/*.3; do
    name=$(basename "$path" .3)
    case " $(echo $exported $later $others) " in
    *" $name "*) ;;
    *) echo "$name.3 documents nothing that exists" >>"$tmp/out" ;;
    esac
done
result 'no page of section 3 without a function' "$tmp/out"

# headers DIR: the headers of a version in one line, without comments.
headers() {
    cat "$include/$1"/*.h | sed 's|//.*||' | tr '\n' ' ' |
        sed 's|/\*[^*]*\**\([^/*][^*]*\**\)*/| |g'
}

# declared DIR: the functions that the headers of a version declare.
declared() {
    headers "$1" | grep -o 'DAT_RETURN  *\(DAT_API  *\)\{0,1\}dat_[a-z0-9_]*  *(\|DAT_RETURN  *\(DAT_API  *\)\{0,1\}dat_[a-z0-9_]*(' |
        sed 's/.* \(dat_[a-z0-9_]*\) *(/\1/' | sort -u
}

if [ -f "$include/dat/udat.h" ] && [ -f "$include/dat2/udat.h" ]; then
    declared dat >"$tmp/declared"
    declared dat2 | grep -vxF -f "$tmp/declared" >"$tmp/declared2"
    [ -s "$tmp/declared" ] && [ -s "$tmp/declared2" ] || echo 'no prototype found' >>"$tmp/out"
    cat "$tmp/declared" "$tmp/declared2" | while read -r name; do
        [ -f "$here/$name.3" ] || echo "$name is declared, no page" >>"$tmp/out"
    done
    result 'a page for each function that the headers declare' "$tmp/out"
else
    skip 'a page for each function that the headers declare' 'no include/dat or include/dat2'
fi

for path in "$here"/*.[357]; do
    page=$(basename "$path")
    name=${page%.*}
    upper=$(echo "$name" | tr 'a-z' 'A-Z')
    grep -q "^\.TH $upper ${page##*.} " "$path" ||
        echo "$page: title is not $upper ${page##*.}" >>"$tmp/out"
    section "$path" NAME | grep -q "^$name \\\\- ." ||
        echo "$page: NAME is not \"$name \\- what it does\"" >>"$tmp/out"
done
result 'title and name agree with the file name' "$tmp/out"

for path in "$here"/*.3; do
    grep '^\.SH ' "$path" | sed 's/^\.SH //' >"$tmp/headings"
    printf '%s\n' NAME SYNOPSIS PARAMETERS DESCRIPTION 'RETURN VALUES' \
        EVENTS NOTES 'UDAPL 2.0' EXAMPLE 'SEE ALSO' >"$tmp/wanted"
    # What only 2.0 has says nothing about a change.
    case " $(echo $later) " in
    *" $(basename "$path" .3) "*) sed -i '/^UDAPL 2.0$/d' "$tmp/wanted" ;;
    esac
    for optional in EVENTS EXAMPLE; do
        grep -qx "$optional" "$tmp/headings" ||
            sed -i "/^$optional\$/d" "$tmp/wanted"
    done
    cmp -s "$tmp/headings" "$tmp/wanted" ||
        echo "$(basename "$path"): $(tr '\n' ',' <"$tmp/headings")" >>"$tmp/out"
    while read -r heading; do
        [ -n "$(section "$path" "$heading")" ] ||
            echo "$(basename "$path"): nothing under $heading" >>"$tmp/out"
    done <"$tmp/headings"
done
result 'headings of section 3 are complete and in order' "$tmp/out"

# The tag of a paragraph is one line; .TQ begins another one. Lists of names run into the description otherwise.
for path in "$here"/*.[1357]; do
    awk -v page="$(basename "$path")" '
        tag && (/,$/ || /^\\fB[A-Z_]+\\fP [A-Z]/) { print page ":" NR ": " $0 }
        { tag = (/^\.T[PQ]/) }' "$path" >>"$tmp/out"
done
result 'tags are lines of names alone' "$tmp/out"

for name in $with_example; do
    grep -q '^\.SH EXAMPLE$' "$here/$name.3" ||
        echo "$name.3 has no EXAMPLE" >>"$tmp/out"
done
result 'the main functions have an example' "$tmp/out"

for path in "$here"/*.3; do
    name=$(basename "$path" .3)
    section "$path" SYNOPSIS | tr '\n' ' ' | grep -q "[ \"]$name(" ||
        echo "$name.3: SYNOPSIS has no prototype of $name" >>"$tmp/out"
    section "$path" SYNOPSIS | sed -n 's/^\.BI .*" *\([a-z_]*\) *[^ ]*$/\1/p' \
        >"$tmp/synopsis"
    section "$path" PARAMETERS |
        sed -n 's/^\.IR \([a-z_]*\) "\? *([ino\/ut]*).*$/\1/p' >"$tmp/params"
    cmp -s "$tmp/synopsis" "$tmp/params" ||
        echo "$name.3: PARAMETERS differ from SYNOPSIS" >>"$tmp/out"
done
result 'PARAMETERS has each parameter of SYNOPSIS, in order' "$tmp/out"

if [ -s "$tmp/declared2" ]; then
    for version in dat dat2; do
        headers "$version" >"$tmp/headers"
        [ "$version" = dat ] && list=$tmp/declared || list=$tmp/declared2
        while read -r name; do
            [ -f "$here/$name.3" ] || continue
            grep -o "DAT_RETURN  *\(DAT_API  *\)\{0,1\}$name *([^)]*)" "$tmp/headers" | head -n 1 |
                sed -e 's/.*(//' -e 's/)//' | tr ',' '\n' |
                sed -e '/^ *\.\.\. *$/d' -e 's/\[[^]]*\]//g' -e 's/  */ /g' -e 's/^ //' -e 's/ $//' >"$tmp/proto"
            section "$here/$name.3" SYNOPSIS |
                sed -n 's/^\.BI "\(.*(\)\{0,1\} *\(.*[^ ]\) *" *\([a-z_0-9]*\) *[^ ]*$/\2 \3/p' |
                sed -e 's/  */ /g' -e 's/\* /*/' >"$tmp/synopsis"
            cmp -s "$tmp/proto" "$tmp/synopsis" ||
                echo "$name.3: $(echo $(cat "$tmp/synopsis")), header: $(echo $(cat "$tmp/proto"))" >>"$tmp/out"
        done <"$list"
    done
    result 'SYNOPSIS has the parameters of the header, with their types' "$tmp/out"
else
    skip 'SYNOPSIS has the parameters of the header, with their types' 'no include/dat or include/dat2'
fi

if [ -s "$tmp/declared2" ]; then
    cat "$include"/dat*/dat_error.h | tr -c 'A-Za-z0-9_' '\n' | sort -u >"$tmp/codes"
    for path in "$here"/*.3; do
        section "$path" 'RETURN VALUES' |
            awk 'tag { print } { tag = ($0 == ".TP") }' >"$tmp/tags"
        names "$tmp/tags" | while read -r code; do
            grep -qx "$code" "$tmp/codes" ||
                echo "$(basename "$path"): $code is not in dat_error.h"
        done >>"$tmp/out"
    done
    result 'each return code exists in dat_error.h' "$tmp/out"
else
    skip 'each return code exists in dat_error.h' 'no include/dat or include/dat2'
fi

if [ -s "$tmp/declared2" ]; then
    cat "$include"/dat*/*.h | tr -c 'A-Za-z0-9_' '\n' | sort -u >"$tmp/known"
    printf '%s\n' $not_in_headers >>"$tmp/known"
    for path in "$here"/*.[357]; do
        names "$path" | while read -r code; do
            grep -qx "$code" "$tmp/known" ||
                echo "$(basename "$path"): $code is in no header"
        done >>"$tmp/out"
    done
    result 'each DAT_ name exists in a header' "$tmp/out"
else
    skip 'each DAT_ name exists in a header' 'no include/dat or include/dat2'
fi

for path in "$here"/*.3; do
    case $(basename "$path") in
    dat_provider_*) continue ;; # they return nothing
    esac
    section "$path" 'RETURN VALUES' | head -n 2 | grep -qx '\.B DAT_SUCCESS' ||
        echo "$(basename "$path"): RETURN VALUES does not begin with DAT_SUCCESS" >>"$tmp/out"
done
result 'RETURN VALUES begins with success' "$tmp/out"

for path in "$here"/*.[357]; do
    sed -n -e 's/^\.BR \([a-z_.0-9]*\) (\([357]\)).*/\1.\2/p' \
        -e 's/\\fB\(dats\?_[a-z_]*\|dat\.conf\|libdat2\?\|libdapl[a-z]*\)\\fP(\([357]\))/\
@\1.\2\
/gp' "$path" | sed -n -e 's/^@//' -e '/^[a-z_.0-9]*\.[357]$/p' | sort -u |
        while read -r ref; do
            case $ref in
            dat* | libda*) [ -f "$here/$ref" ] || echo "$(basename "$path"): no page $ref" ;;
            esac
        done >>"$tmp/out"
done
result 'pages that are referred to exist' "$tmp/out"

for name in $exported $others; do
    section "$here/libdat.7" PAGES | grep -q "^\.BR $name (3)" ||
        echo "$name is not listed" >>"$tmp/out"
done
for name in $later; do
    section "$here/libdat2.7" PAGES | grep -q "^\.BR $name (3)" ||
        echo "$name is not listed in libdat2(7)" >>"$tmp/out"
done
result 'libdat(7) and libdat2(7) list every page of section 3' "$tmp/out"

: >"$tmp/out"
for name in ${attributes:?}; do
    grep -q "$name" "$here/libdat2.7" || echo "$name is not in libdat2(7)" >>"$tmp/out"
done
result 'libdat2(7) has every named attribute without a macro' "$tmp/out"

# The table of dat_ep_modify: 30 rows of mask, field and nine states.
sed -n '/^\.\\" BEGIN ep_modify table$/,/^\.\\" END ep_modify table$/p' \
    "$here/dat_ep_modify.3" | grep '^\.EpRow ' >"$tmp/table"
awk 'NF != 12 { print "row " NR ": " NF - 1 " columns instead of 11" }
     { for (i = 4; i <= NF; i++) if ($i !~ /^[ASP]$/) print $2 ": " $i }
     seen[$2]++ { print $2 " twice" }
     END { if (NR != 30) print NR " rows instead of 30" }' \
    "$tmp/table" >>"$tmp/out"
if [ -f "$include/dat/udat.h" ]; then
    cat "$include"/dat/*.h | grep -o 'DAT_EP_FIELD_[A-Z0-9_]*' | sort -u |
        grep -v -e '_ALL$' -e '_$' >"$tmp/masks"
    awk '{ print $2 }' "$tmp/table" | sort -u | diff - "$tmp/masks" |
        sed -n 's/^[<>]/table or header only:/p' >>"$tmp/out"
fi
result 'the table of dat_ep_modify is complete' "$tmp/out"

# The limits that libdaplshm(7) and libdapltcp(7) tell. The terms in the code are such that the shell can work them out,
# once it knows the names in them.

# constant NAME FILE: the term that it is defined by.
constant() {
    sed -n "s/^ *\(pub \)\{0,1\}const $1: [a-z0-9]* = \([^;]*\);.*/\2/p" "$2" | head -n 1
}

# compare_limits PAGE: the table of the page has the numbers of the attributes in the code.
compare_limits() {
    sed -n '/^\.\\" BEGIN limits$/,/^\.\\" END limits$/p' "$here/$1.7" | grep -v '^\.' >"$tmp/limits"
    [ -s "$tmp/limits" ] || echo "$1.7 has no table of limits" >>"$tmp/out"
    while read -r name value; do
        # The names of the interface and those of the code.
        case $name in
        max_iov_segments_per_dto) field=max_segments ;;
        max_iov_segments_per_rdma_read) field=max_segments_read ;;
        max_iov_segments_per_rdma_write) field=max_segments_write ;;
        max_lmr_block_size) field=max_lmr_block ;;
        max_message_size | max_rdma_size) field=max_transfer ;;
        max_ep_per_srq) field=max_eps_per_srq ;;
        max_recv_per_srq) field=max_recvs_per_srq ;;
        max_private_data_size) field=max_private_data ;;
        optimal_buffer_alignment) field=optimal_alignment ;;
        *) field=$name ;;
        esac
        # A field without a term has that of the transport, which is a parameter of the function.
        term=$(sed -n -e '/: u[0-9a-z]*,$/d' -e "s/^ *$field: \(.*\),\$/\1/p" -e "s/^ *\($field\),\$/\1/p" \
            "$src/transport/software/src/objects.rs")
        if [ -z "$term" ]; then
            echo "$name: no $field in objects.rs" >>"$tmp/out"
        elif [ "$(($term))" != "$value" ]; then
            echo "$name: page $value, code $(($term))" >>"$tmp/out"
        fi
    done <"$tmp/limits"
    result "the limits of $1(7) are those of the code" "$tmp/out"
}

src=$here/../../src
if [ -d "$src" ]; then
    MAX_SEGMENTS=$(($(constant MAX_SEGMENTS "$src/core/src/transport/work.rs")))
    INDEX_BITS=$(constant INDEX_BITS "$src/transport/software/src/regions.rs")
    ROWS=$(($(constant ROWS "$src/transport/software/src/regions.rs")))
    MAX_EPS=$(constant MAX_EPS "$src/transport/software/src/objects.rs")
    MAX_READS=$(constant MAX_READS "$src/transport/software/src/objects.rs")
    max_transfer=$(($(constant LARGEST "$src/transport/software/src/wire.rs")))
    max_private_data=$(($(constant MAX_PRIVATE_DATA "$src/transport/shm/src/meeting/wire.rs")))
    compare_limits libdaplshm
    max_private_data=$(($(constant MAX_PRIVATE_DATA "$src/transport/tcp/src/hello.rs")))
    compare_limits libdapltcp
else
    skip 'the limits of libdaplshm(7) are those of the code' 'no src'
    skip 'the limits of libdapltcp(7) are those of the code' 'no src'
fi

# The comments "<!-- test: ... -->" of docs/compat.md name tests: a program as `subject/name`, then its
# subtests in quotation marks. One line each: program, tab, subtest.
compat=$here/../compat.md
tests=$here/../../tests-c

# named FIRST LAST: the tests that the lines between two patterns name.
named() {
    sed -n "/$1/,/$2/p" "$compat" | tr '\n' ' ' | sed -e 's/  */ /g' -e 's/<!-- test:/\
&/g' -e 's/ -->/\
/g' | sed -n '/^<!-- test:/p' | awk -F '"' '{
            for (i = 1; i <= NF; i += 2) {
                if (match($i, /`[a-z0-9_]+\/[a-z0-9_]+`/))
                    program = substr($i, RSTART + 1, RLENGTH - 2)
                if (i < NF) print program "\t" $(i + 1)
            }
        }'
}

# have_passed CHAPTERS NAMED RESULTS...: checks that the tests in the file NAMED passed, or were skipped, for which the
# suite states the reasons.
have_passed() {
    chapters=$1 list=$2
    shift 2
    has_dapl2=
    : >"$tmp/skipped"
    for results in "$@"; do
        for tap in "$results"/*.tap; do
            program=$(basename "$tap" .tap | sed -e 's|\.|/|' -e 's|\.sh$||')
            case $program in dapl2/*) has_dapl2=1 ;; esac
            sed -n "s|^ok [0-9]* - |$program	|p" "$tap" | grep -v ' # SKIP'
            sed -n "s|^ok [0-9]* - \(.*\) # SKIP.*|$program	\1|p" "$tap" >>"$tmp/skipped"
            # All subtests of a program.
            ! grep -q '^1\.\.0 # SKIP' "$tap" || grep "^$program	" "$list" >>"$tmp/skipped"
        done
    done >"$tmp/passed"
    # Without Debian's packages of uDAPL 2.0, the suite has no subject dapl2.
    [ -n "$has_dapl2" ] || grep '^dapl2/' "$list" >>"$tmp/skipped"
    grep -vxF -f "$tmp/passed" "$list" >"$tmp/others"
    grep -vxF -f "$tmp/skipped" "$tmp/others" | sed 's/	/: /' >>"$tmp/out"
    skipped=$(grep -cxF -f "$tmp/skipped" "$tmp/others")
    result "docs/compat.md, $chapters: names tests that passed ($(wc -l <"$list"), $skipped skipped)" "$tmp/out"
}

if [ -f "$compat" ] && [ -d "$tests" ]; then
    named '^# ' '^## uDAPL 2.0$' >"$tmp/named"
    named '^## uDAPL 2.0$' '^# ' >"$tmp/named20"
    [ -s "$tmp/named" ] && [ -s "$tmp/named20" ] || echo 'no test is named' >>"$tmp/out"
    cut -f 1 "$tmp/named" "$tmp/named20" | sort -u | while read -r program; do
        [ -f "$tests/$program.c" ] || [ -f "$tests/$program.sh" ] || echo "no $program in tests-c"
    done >>"$tmp/out"
    grep -o '`\(src\|tests-c\)/[a-z0-9_/.-]*`' "$compat" | tr -d '`' | sort -u | while read -r path; do
        [ -e "$here/../../$path" ] || echo "no $path"
    done >>"$tmp/out"
    result 'docs/compat.md names programs that exist' "$tmp/out"
    # A difference is a paragraph that begins with its name in bold type.
    awk 'BEGIN { RS = "" } /^\*\*/ { gsub(/\n/, " "); if (!/<!-- test: |[Nn]ot tested/) print substr($0, 1, 60) }' \
        "$compat" >>"$tmp/out"
    result 'docs/compat.md names a test of each difference, or says that there is none' "$tmp/out"
    if [ $# -gt 0 ]; then
        have_passed 'uDAPL 1.2' "$tmp/named" "$1"
        shift
    fi
    if [ $# -gt 0 ]; then
        have_passed 'uDAPL 2.0' "$tmp/named20" "$@"
    fi
else
    skip 'docs/compat.md names programs that exist' 'no docs/compat.md or no tests-c'
fi

if command -v mandoc >/dev/null 2>&1; then
    mandoc -Tlint -W style "$here"/*.[357] >"$tmp/out" 2>&1
    # Those of the tools are not written by hand, and have long lines.
    mandoc -Tlint -W warning "$here"/*.1 >>"$tmp/out" 2>&1
    result 'mandoc -Tlint' "$tmp/out"
else
    skip 'mandoc -Tlint' 'mandoc is not installed'
fi

if command -v groff >/dev/null 2>&1; then
    for path in "$here"/*.[1357]; do
        groff -man -ww -Wbreak -Tutf8 "$path" 2>&1 >/dev/null |
            sed "s|^|$(basename "$path"): |" >>"$tmp/out"
    done
    result 'groff -man -ww' "$tmp/out"
else
    skip 'groff -man -ww' 'groff is not installed'
fi

cc=${CC:-cc}
if ! command -v "$cc" >/dev/null 2>&1; then
    skip 'examples compile' "no C compiler $cc"
elif [ ! -f "$include/dat/udat.h" ]; then
    skip 'examples compile' 'no include/dat'
else
    compiled=0
    for path in "$here"/*.[37]; do
        examples "$path"
        for example in "$tmp"/ex.*.c; do
            [ -e "$example" ] || continue
            compiled=$((compiled + 1))
            # The extensions of 2.0 have a union without a name.
            grep -q '^#include <dat2/' "$example" && std=c11 || std=c99
            "$cc" -std=$std -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic \
                -fsyntax-only -I"$include" "$example" >"$tmp/cc" 2>&1
            sed "s|^|$(basename "$path"): |" "$tmp/cc" >>"$tmp/out"
        done
    done
    [ "$compiled" -gt 0 ] || echo 'no example found' >>"$tmp/out"
    result "examples compile ($compiled)" "$tmp/out"
fi

# The prototypes that a section on 2.0 shows must be those of the headers, or they do not compile together.
if command -v "$cc" >/dev/null 2>&1 && [ -s "$tmp/declared2" ]; then
    shown=0
    for path in "$here"/*.3; do
        section "$path" 'UDAPL 2.0' | sed -n '/^\.EX$/,/^\.EE$/p' | sed '/^\./d' >"$tmp/shown"
        [ -s "$tmp/shown" ] || continue
        shown=$((shown + 1))
        { echo '#include <dat2/udat.h>'; cat "$tmp/shown"; } >"$tmp/shown.c"
        "$cc" -std=c99 -Wall -Wextra -fsyntax-only -I"$include" "$tmp/shown.c" >"$tmp/cc" 2>&1
        sed "s|^|$(basename "$path"): |" "$tmp/cc" >>"$tmp/out"
    done
    result "prototypes of 2.0 agree with the headers ($shown)" "$tmp/out"
else
    skip 'prototypes of 2.0 agree with the headers' "no C compiler $cc, or no headers"
fi

echo "1..$count"
grep -n 'TODO(' "$here"/*.[357] | sed -e "s|^$here/||" -e 's|^|# open: |'
echo "# $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
