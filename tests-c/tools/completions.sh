#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# completions.sh - the completions of docs/completions in each shell. Prints TAP.
set -u
directory=$(cd "$(dirname "$0")/../../docs/completions" && pwd) || exit 2
number=0 failed=0
# Replaces dat-info, which the completions run for the names of adapters.
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cat >"$work/dat-info" <<'END'
#!/bin/sh
test "$*" = --json || exit
printf '      "%s": %s\n' name '"shm",' opens true,
END
chmod +x "$work/dat-info"
PATH=$work:$PATH

# offers SHELL TOOL WORD WANTED COMMAND...: checks that COMMAND prints WANTED as a completion of WORD.
offers()
{
    shell=$1 tool=$2 word=$3 wanted=$4
    shift 4
    number=$((number + 1))
    said=$("$@" 2>&1)
    if echo "$said" | tr ' \t' '\n\n' | grep -qxF -e "$wanted"; then
        echo "ok $number - $shell: $tool $word: $wanted"
    else
        failed=1
        echo "not ok $number - $shell: $tool $word: $wanted"
        echo "$said" | sed 's/^/# /'
    fi
}

# complete_in SHELL TOOL WORD WANTED: checks that the shell offers WANTED as a completion of WORD, an argument of TOOL.
complete_in()
{
    if ! command -v "$1" >/dev/null; then
        number=$((number + 1))
        echo "ok $number - $1: $2 $3 # SKIP no $1 here"
        return
    fi
    case $1 in
    bash)
        offers "$@" bash --norc -c '. "$1/bash/$2"; COMP_WORDS=("$2" "$3") COMP_CWORD=1
            complete=$(complete -p "$2"); function=${complete#*-F }
            "${function%% *}" "$2" "$3" "$2"; echo "${COMPREPLY[@]}"' bash "$directory" "$2" "$3" ;;
    zsh)
        # Replaces _arguments by a function that prints the arguments which _TOOL passes.
        # As _arguments does, it evaluates the lists of words.
        offers "$@" zsh -f -c 'compdef() { :; }; . "$1/zsh/_$2"
            _arguments() {
                print -l -- "$@"
                for spec; do
                    [[ $spec = *":(\$("* ]] && eval "print -l -- ${${spec##*:}[2,-2]}"
                done
            }
            "_$2" | grep -o -e "--[a-z][a-z-]*" -e "^[a-z]*$"' zsh "$directory" "$2" "$3" ;;
    fish)
        offers "$@" fish -N -c 'source $argv[1]/fish/$argv[2].fish; complete -C "$argv[2] $argv[3]"' \
            "$directory" "$2" "$3" ;;
    esac
}

for shell in bash zsh fish; do
    complete_in $shell dat-info --ex --explain
    complete_in $shell dat-ping --se --self
    complete_in $shell dat-perf --cs --csv
    complete_in $shell dat-ping sh shm
done
echo "1..$number"
exit $failed
