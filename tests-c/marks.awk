# SPDX-License-Identifier: MIT OR Apache-2.0
#
# marks.awk - reads the marks of memory order in Rust sources. Prints one line per place, with tabs between the fields:
# the mark, the file, the function, the operation below the comment with its memory order, and the reason in the
# comment.
#
# A mark is a comment "// SYNC name: reason", or "// SYNC name, name: reason", or without a reason if another place
# contains it. The reason ends with the comment, at the next SYNC, or at "SAFETY:". Documentation comments only refer to
# marks.

function short(file)
{
    sub(/^src\//, "", file)
    sub(/\/src\//, "/", file)
    return file
}

# Returns the atomic operation in a line with its memory orders, or "" if the line has none.
function operation(line,    what, bare)
{
    # If a load is an argument of another operation, the other operation counts.
    bare = line
    gsub(/\.load\(Ordering::[A-Za-z]+\)/, "", bare)
    if (bare ~ /Ordering::/) line = bare
    if (match(line, /(load|store|swap|exchange|change|compare_exchange|fetch_[a-z]+|fence|add)\(.*Ordering::/)) {
        what = substr(line, RSTART)
        sub(/\(.*/, "", what)
        while (match(line, /Ordering::[A-Za-z]+/)) {
            what = what (what ~ / / ? ", " : " ") substr(line, RSTART + 10, RLENGTH - 10)
            line = substr(line, RSTART + RLENGTH)
        }
        return what
    }
    if (match(line, /(heavy|light_if_available|light|fence[a-z_]*|everywhere|try_lock|lock|note|drop|add|take|peer_is_gone|tell_peer|consumed)\(/))
        return substr(line, RSTART, RLENGTH - 1)
    return ""
}

# Prints the places of the comment that has ended, which is above the operation `what`.
function give(what,    rest, names, reason, count, name, i)
{
    gsub(/[ \t]+/, " ", comment)
    rest = comment
    while (match(rest, /(^| )SYNC [a-z][a-z-]*(, [a-z][a-z-]*)*/)) {
        names = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        sub(/^ ?SYNC /, "", names)
        reason = rest
        if (match(reason, / (SYNC [a-z]|SAFETY:)/)) reason = substr(reason, 1, RSTART - 1)
        sub(/^:? */, "", reason)
        sub(/ *$/, "", reason)
        count = split(names, name, /, /)
        for (i = 1; i <= count; i++) print name[i] "\t" short(FILENAME) "\t" own "\t" what "\t" reason
    }
    comment = ""
}

FNR == 1 { own = comment = ""; waiting = 0 }
/^[ \t]*\/\/([^\/!]|$)/ {
    line = $0
    sub(/^[ \t]*\/\/ ?/, "", line)
    if (waiting) { comment = comment " " line; next }
    if (line ~ /(^| )SYNC [a-z]/) { comment = line; waiting = 4; next }
    next
}
waiting {
    what = operation($0)
    if (what != "" || --waiting == 0) { give(what); waiting = 0 }
}
/^[ \t]*((pub(\([a-z]*\))?|const|async|unsafe|extern "[A-Za-z-]*") )*fn [a-z_0-9]+/ {
    own = $0
    sub(/.*[^a-z_]?fn /, "", own)
    sub(/[^a-z_0-9].*/, "", own)
}
