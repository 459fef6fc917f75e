# SPDX-License-Identifier: MIT OR Apache-2.0
#
# lines.awk - describes the figure of latency and bandwidth by size, which xtask draws:
#
#   awk -v machine=TEXT -f lines.awk shm.csv | xtask chart >bench.svg
#
# Points are medians over the rounds. Lines without points are omitted.

function middle(text,    list, n, i, j, x)
{
    n = split(text, list, " ")
    for (i = 1; i <= n; i++) {
        x = list[i] + 0
        for (j = i - 1; j >= 1 && list[j] > x; j--) list[j + 1] = list[j]
        list[j + 1] = x
    }
    return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}

# Returns the points of a command: `before`, the size, `after`.
function points(before, after, result,    i, n, list, name, found)
{
    n = split("1 8 64 512 4096 32768 65536 262144 1048576 4194304", list, " ")
    for (i = 1; i <= n; i++) {
        name = before list[i] after SUBSEP result
        if (name in values) found = found (found ? ", " : "") "[" list[i] ", " middle(values[name]) "]"
    }
    return found
}

# Returns a horizontal line.
function level(command, result)
{
    if (!((command, result) in values)) return ""
    return "[1, " middle(values[command, result]) "], [4194304, " middle(values[command, result]) "]"
}

function panel(heading, unit)
{
    if (panels++) print "] },"
    printf "{ \"heading\": \"%s\", \"unit\": \"%s\", \"lines\": [\n", heading, unit
    lines = 0
}

function line(label, colour, dash, values_by_size)
{
    if (values_by_size == "") return
    printf "%s{ \"label\": \"%s\", \"colour\": \"%s\", \"dash\": \"%s\", \"points\": [%s] }\n", lines++ ? ", " : "", label, colour,
        dash, values_by_size
}

BEGIN { FS = "," }
$1 != "round" {
    values[$2, $3] = values[$2, $3] " " $4
    if ($1 > rounds) rounds = $1 + 0
}

END {
    gsub(/["\\]/, "", machine)
    printf "{ \"title\": \"shm beside UCX\", \"note\": \"two processes, medians of %d rounds of one run\\n%s\", \"panels\": [\n",
        rounds, machine

    panel("Latency, one way, polling (less is better)", "ns")
    line("shm: send, receive, both completions reaped", "#c1272d", "", points("ours send_lat --size ", "", "median"))
    line("shm: RDMA write, the target spins on its memory", "#e8871e", "", points("ours write_lat --size ", "", "median"))
    line("UCX: tag_lat", "#0b5fa5", "7 4", points("ucx tag_lat -s ", "", "median"))
    line("UCX: ucp_put_lat", "#4ba3d8", "7 4", points("ucx ucp_put_lat -s ", "", "median"))
    line("a cache line's way between the processors", "#777", "2 3", level("mark cache_line 8", "median"))

    panel("Bandwidth, 64 outstanding (more is better)", "MB/s")
    line("shm: send", "#c1272d", "", points("ours send_bw --size ", "", "bandwidth"))
    line("shm: RDMA write", "#e8871e", "", points("ours write_bw --size ", "", "bandwidth"))
    line("shm: RDMA read", "#7b3294", "3 3", points("ours read_bw --size ", "", "bandwidth"))
    line("UCX: tag_bw", "#0b5fa5", "7 4", points("ucx tag_bw -s ", " -O 64", "bandwidth"))
    line("UCX: ucp_put_bw", "#4ba3d8", "7 4", points("ucx ucp_put_bw -s ", " -O 64", "bandwidth"))
    line("UCX: ucp_get", "#1b7f5c", "7 4", points("ucx ucp_get -s ", " -O 64", "bandwidth"))
    line("the kernel's copy, process_vm_writev", "#777", "2 3", points("mark writev ", "", "bandwidth"))
    line("memcpy in one process", "#aaa", "2 3", points("mark memcpy ", "", "bandwidth"))
    print "] }] }"
}
