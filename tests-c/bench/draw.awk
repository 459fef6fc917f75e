# SPDX-License-Identifier: MIT OR Apache-2.0
#
# draw.awk - draws latency and bandwidth by size: awk -v machine=TEXT -f draw.awk shm.csv >bench.svg
#
# Points are medians over the rounds. Both axes are logarithmic.

function sort(list, n,    i, j, x)
{
    for (i = 2; i <= n; i++) {
        x = list[i]
        for (j = i - 1; j >= 1 && list[j] > x; j--) list[j + 1] = list[j]
        list[j + 1] = x
    }
}

function middle(text,    list, n)
{
    n = split(text, list, " ")
    for (i = 1; i <= n; i++) list[i] += 0
    sort(list, n)
    return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}

function log2(x) { return log(x) / log(2) }
function bytes(n) { return n >= 1048576 ? n / 1048576 " MiB" : n >= 1024 ? n / 1024 " KiB" : n " B" }

# ---- One panel: its place, and the powers of ten at its lower and upper edge ----

function panel(x0, heading, unit, low, high,    i, n, y, size, list)
{
    left = x0; right = x0 + 380; top = 70; bottom = 390
    from = low; to = high
    printf "<text x=\"%d\" y=\"%d\" class=\"h\">%s</text>\n", left, top - 14, heading
    for (i = from; i <= to; i++) {
        y = height(10 ^ i)
        printf "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" class=\"g\"/>\n", left, y, right, y
        printf "<text x=\"%d\" y=\"%.1f\" class=\"y\">%s</text>\n", left - 6, y + 4, amount(10 ^ i, unit)
    }
    n = split("1 8 64 512 4096 32768 262144 4194304", list, " ")
    for (i = 1; i <= n; i++) {
        size = list[i]
        printf "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"g\"/>\n", place(size), top, place(size), bottom
        printf "<text x=\"%.1f\" y=\"%d\" class=\"x\">%s</text>\n", place(size), bottom + 16, bytes(size)
    }
    printf "<text x=\"%d\" y=\"%d\" class=\"x\">bytes of one transfer</text>\n", (left + right) / 2, bottom + 34
    key = bottom + 56
}

function place(size) { return left + (right - left) * log2(size) / 22 }
function height(value) { return bottom - (bottom - top) * (log(value) / log(10) - from) / (to - from) }
function amount(value, unit)
{
    if (unit == "ns") return value >= 1e6 ? value / 1e6 " ms" : value >= 1e3 ? value / 1e3 " µs" : value " ns"
    return value >= 1e3 ? value / 1e3 " GB/s" : value " MB/s"
}

# One line: the points of a command, whose text before and after the size is given.
function series(label, colour, dash, before, after, result,    i, n, list, name, points, dots, value, x, y)
{
    n = split("1 8 64 512 4096 32768 65536 262144 1048576 4194304", list, " ")
    for (i = 1; i <= n; i++) {
        name = before list[i] after SUBSEP result
        if (!(name in values)) continue
        value = middle(values[name])
        if (value < 10 ^ from) continue
        x = place(list[i]); y = height(value)
        points = points sprintf("%.1f,%.1f ", x, y)
        dots = dots sprintf("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>", x, y, colour)
    }
    if (points == "") return
    printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s/>%s\n", points, colour, dash, dots
    legend(label, colour, dash)
}

# A value that does not depend on the size.
function level(label, colour, command, result,    y)
{
    if (!((command, result) in values)) return
    y = height(middle(values[command, result]))
    printf "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"1.5\" stroke-dasharray=\"2 3\"/>\n",
        left, y, right, y, colour
    legend(label, colour, " stroke-dasharray=\"2 3\"")
}

function legend(label, colour, dash)
{
    printf "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"2\"%s/>", left, key - 4, left + 26, key - 4, colour, dash
    printf "<text x=\"%d\" y=\"%d\" class=\"k\">%s</text>\n", left + 34, key, label
    key += 17
}

BEGIN { FS = "," }
$1 != "round" {
    values[$2, $3] = values[$2, $3] " " $4
    if ($1 > rounds) rounds = $1 + 0
}

END {
    dashed = " stroke-dasharray=\"7 4\""
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"940\" height=\"560\" viewBox=\"0 0 940 560\">"
    print "<style>text{font:12px sans-serif;fill:#222}.t{font-size:16px;font-weight:bold}.h{font-size:13px;font-weight:bold}"
    print ".x{text-anchor:middle;font-size:11px}.y{text-anchor:end;font-size:11px}.g{stroke:#ddd;stroke-width:1}</style>"
    print "<rect width=\"940\" height=\"560\" fill=\"#fff\"/>"
    print "<text x=\"70\" y=\"24\" class=\"t\">shm beside UCX</text>"
    gsub(/&/, "\\&amp;", machine); gsub(/</, "\\&lt;", machine); gsub(/>/, "\\&gt;", machine)
    printf "<text x=\"930\" y=\"24\" text-anchor=\"end\">two processes, medians of %d rounds of one run; %s</text>\n", rounds, machine

    panel(70, "Latency, one way, polling (less is better)", "ns", 1, 6)
    series("shm: send, receive, both completions reaped", "#c1272d", "", "ours send_lat --size ", "", "median")
    series("shm: RDMA write, the target spins on its memory", "#e8871e", "", "ours write_lat --size ", "", "median")
    series("UCX: tag_lat", "#0b5fa5", dashed, "ucx tag_lat -s ", "", "median")
    series("UCX: ucp_put_lat", "#4ba3d8", dashed, "ucx ucp_put_lat -s ", "", "median")
    level("a cache line's way between the processors", "#777", "mark cache_line 8", "median")

    panel(540, "Bandwidth, 64 outstanding (more is better)", "MB/s", 0, 5)
    series("shm: send", "#c1272d", "", "ours send_bw --size ", "", "bandwidth")
    series("shm: RDMA write", "#e8871e", "", "ours write_bw --size ", "", "bandwidth")
    series("shm: RDMA read", "#7b3294", "", "ours read_bw --size ", "", "bandwidth")
    series("UCX: tag_bw", "#0b5fa5", dashed, "ucx tag_bw -s ", " -O 64", "bandwidth")
    series("the kernel's copy, process_vm_writev", "#777", " stroke-dasharray=\"2 3\"", "mark writev ", "", "bandwidth")
    series("memcpy in one process", "#aaa", " stroke-dasharray=\"2 3\"", "mark memcpy ", "", "bandwidth")
    print "</svg>"
}
