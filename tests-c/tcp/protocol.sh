#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# protocol.sh SOURCES - prints a C header with the constants of the wire protocol, from record.rs, hello.rs and
# handshakes.rs in SOURCES, and from wire.rs of the crate `software`. Fails if a constant that the tests use is missing.
set -eu
sources=$1
needed='RECORD_HEADER RECORD_MAX_PAYLOAD RECORD_MIN_WINDOW RECORD_MAX_WINDOW RECORD_LARGEST RECORD_WORD RECORD_SOLICITED
RECORD_WAITED RECORD_TARGET RECORD_ATOMIC RECORD_ADD RECORD_SWAP RECORD_ENDS KIND_MESSAGE KIND_WRITE KIND_WRITE_PART
KIND_IMMEDIATE KIND_INVALIDATE KIND_READ KIND_ATOMIC KIND_LAST_REQUEST KIND_HANDLED KIND_RESPONSE KIND_END HELLO_MAGIC
HELLO_SIZE HELLO_MAX_PRIVATE_DATA HELLO_EXTENDED HELLO_REJECTED HELLO_REFUSED HELLO_AGAIN CM_GREETING_TIMEOUT CM_MAX_GREETINGS'

# constants FILE PREFIX: prints the constants outside of modules as PREFIX_NAME, those in `mod kind` as KIND_NAME.
# Numbers have the type unsigned long long, because some exceed an int.
constants()
{
    awk -v prefix="$2" '
        /^pub mod / { module = toupper($3) }
        /^}/ { module = "" }
        /^ *(pub )?const [A-Z_]+: / {
            line = $0
            sub(/^ *(pub )?const /, "", line)
            name = line
            sub(/:.*/, "", name)
            type = line
            sub(/^[A-Z_]+: /, "", type)
            sub(/ = .*/, "", type)
            value = line
            sub(/^[^=]*= /, "", value)
            sub(/; *$/, "", value)
            own = (module != "" ? module : prefix) "_"
            # Of a list of reasons, only the length.
            if (type ~ /^\[End; [0-9]+\]$/) {
                value = type
                gsub(/[^0-9]/, "", value)
            }
            if (value ~ /^Duration::from_secs\([0-9]+\)$/)
                gsub(/[^0-9]/, "", value)
            sub(/^\*b/, "", value)
            if (value ~ /^[A-Z_]+$/)
                value = own value
            else if (value ~ /^[0-9]+( << [0-9]+)?$/)
                sub(/^[0-9]+/, "&ull", value)
            else if (value !~ /^"/)
                next
            print "#define " own name " (" value ")"
        }
    ' "$sources/$1"
}

header=$(
    echo '/* The constants of the wire protocol, from the sources of the transport. */'
    constants ../../software/src/wire.rs RECORD
    constants record.rs RECORD
    constants hello.rs HELLO
    constants handshakes.rs CM
)
for name in $needed; do
    case $header in
    *"#define $name ("*) ;;
    *) echo "protocol.sh: $sources has no constant for $name" >&2; exit 1 ;;
    esac
done
printf '%s\n' "$header"
