# SPDX-License-Identifier: MIT OR Apache-2.0
#
# table.awk - prints the table of bench.sh: awk -f table.awk -v sets="quick full" rows.txt raw.csv
#
# For each row: medians of both sides over the rounds, and the median of the rounds' ratios with minimum and maximum.
# Rows without results of both sides are omitted.

function trim(s) { gsub(/^ +| +$/, "", s); return s }

# Sorts list[1..n] by insertion.
function sort(list, n,    i, j, x)
{
    for (i = 2; i <= n; i++) {
        x = list[i]
        for (j = i - 1; j >= 1 && list[j] > x; j--) list[j + 1] = list[j]
        list[j + 1] = x
    }
}
function middle(list, n) { return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2 }

# Formats a value in three digits, with its unit.
function show(value, unit)
{
    if (unit == "ns" && value >= 1e6) { value /= 1e6; unit = "ms" }
    else if (unit == "ns" && value >= 1e4) { value /= 1e3; unit = "us" }
    else if (unit == "1/s" && value >= 1e6) { value /= 1e6; unit = "M/s" }
    else if (unit == "1/s" && value >= 1e3) { value /= 1e3; unit = "k/s" }
    else if (unit == "MB/s" && value >= 1e4) { value /= 1e3; unit = "GB/s" }
    return sprintf(value >= 99.95 ? "%.0f %s" : value >= 9.995 ? "%.1f %s" : "%.2f %s", value, unit)
}

function meets(ratio, rule,    part)
{
    split(rule, part, " ")
    return part[1] == "<=" ? ratio <= part[2] + 0 : ratio >= part[2] + 0
}

# Returns the result of a command in a round, or "".
function of(round, what) { return ((round, what) in value) ? value[round, what] : "" }

# Fills medians and spreads of a row. Returns the number of rounds with both sides.
function row_values(ours, other,    r, a, b, n, x, y, z)
{
    n = 0
    for (r = 1; r <= rounds; r++) {
        a = of(r, ours)
        b = of(r, other)
        if (a == "" || b == "" || b == 0) continue
        n++
        x[n] = a; y[n] = b; z[n] = a / b
    }
    if (n == 0) return 0
    sort(x, n); sort(y, n); sort(z, n)
    our_median = middle(x, n); our_low = x[1]; our_high = x[n]
    peer_median = middle(y, n); peer_low = y[1]; peer_high = y[n]
    ratio = middle(z, n); ratio_low = z[1]; ratio_high = z[n]
    return n
}

function full_name(side,    part)
{
    split(side, part, " : ")
    part[1] = trim(part[1])
    if (part[1] !~ /^(ours|mark|ucx|raw|fabric|dapl2|before) /) part[1] = "ours " part[1]
    return part[1] " : " trim(part[2])
}

# Returns the maximum deviation from the median in percent.
function spread(low, median, high,    d)
{
    d = median - low > high - median ? median - low : high - median
    return sprintf("%.0f%%", median > 0 ? 100 * d / median : 0)
}

NR == FNR && /^# ----/ { sub(/^# -+ /, ""); sub(/ -+$/, ""); heading = $0; next }
NR == FNR && (/^#/ || /^ *$/) { next }
NR == FNR {
    split($0, f, "|")
    if (index(" " sets " ", " " trim(f[1]) " ") == 0) next
    rows++
    title[rows] = heading
    what[rows] = trim(f[2])
    ours[rows] = full_name(f[3])
    other[rows] = full_name(f[4])
    target[rows] = trim(f[5])
    required[rows] = trim(f[6])
    next
}
# raw.csv: round,command,result,value,unit
{
    split($0, c, ",")
    if (c[1] == "round") next
    value[c[1], c[2] " : " c[3]] = c[4] + 0
    unit[c[2] " : " c[3]] = c[5]
    if (c[1] > rounds) rounds = c[1] + 0
}

END {
    line = "%-44s %10s %5s  %-22s %10s %5s  %6s %13s  %8s %8s  %s\n"
    for (i = 1; i <= rows; i++) {
        if (!row_values(ours[i], other[i])) continue
        if (title[i] != last) {
            if (last != "") print ""
            print title[i]
            printf line, "", "ours", "+-", "beside", "it", "+-", "ratio", "lowest-highest", "target", "must", ""
            last = title[i]
        }
        split(other[i], name, " : ")
        verdict = ""
        if (target[i] != "-" || required[i] != "-") {
            if (target[i] != "-" && meets(ratio, target[i])) { verdict = "target met"; targets++ }
            else if (required[i] == "-") verdict = "target missed"
            else if (meets(ratio, required[i])) verdict = target[i] == "-" ? "met" : "must met"
            else { verdict = "MISSED"; missed++ }
            judged++
        }
        peer = name[1]
        if (peer ~ /^(ours|before|dapl2)/) sub(/ .*/, "", peer)
        else { gsub(/ -[sOtr] [0-9]+/, "", peer); sub(/^raw /, "", peer); sub(/ [0-9]+$/, "", peer); sub(/^mark /, "", peer) }
        printf line, what[i], show(our_median, unit[ours[i]]), spread(our_low, our_median, our_high),
            peer, show(peer_median, unit[other[i]]), spread(peer_low, peer_median, peer_high),
            sprintf("%.2f", ratio), sprintf("%.2f-%.2f", ratio_low, ratio_high), target[i], required[i], verdict
    }
    printf "\nMedians of %d rounds; +-: the farthest round. The ratio is the median of the ratios of the rounds,\n", rounds
    printf "ours to the other: small is good for times, large for rates and bandwidth. %d rows have a target: ", judged
    printf "%d meet it,\n%d miss what they must.\n", targets, missed
}
