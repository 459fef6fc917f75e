complete -c dat-perf -s q -l qualifier -d 'Connection qualifier of the server, over IP a port (also -p and --port); by default 18515 for dat-ping and 18516 for dat-perf, and with --self any free one' -r
complete -c dat-perf -l api -d 'Act as a program of this version of uDAPL' -r -f -a "1.2\t'A program that is linked with libdat.so.1'
2.0\t'A program that is linked with libdat2.so.2'"
complete -c dat-perf -l library -d 'Use this libdat.so.1 or libdat2.so.2 instead of the one that programs find' -r -F
complete -c dat-perf -s t -l test -d 'Tests to run, separated by commas; by default all of these, with --both or --reverse send_bw, write_bw and read_bw' -r -f -a "send_lat\t'Sends back and forth, one after the other'
write_lat\t'RDMA writes back and forth; the target polls its memory'
read_lat\t'RDMA reads, one after the other'
send_bw\t'Many outstanding sends in one direction'
write_bw\t'Many outstanding RDMA writes'
read_bw\t'Many outstanding RDMA reads'"
complete -c dat-perf -s s -l size -d 'Bytes of a transfer: numbers such as 8, 64K or 4M, and ranges of powers of two such as 1-4K' -r
complete -c dat-perf -s n -l iterations -d 'Measured transfers of a thread, such as 500 or 20K; by default 20,000 up to 4 KiB, 5,000 up to 64 KiB, else 500' -r
complete -c dat-perf -s D -l duration -d 'Measure for this time instead of a number of transfers' -r
complete -c dat-perf -s i -l interval -d 'Show a line for each interval of this time while a measurement runs, such as one of --duration 10' -r
complete -c dat-perf -l warmup -d 'Transfers of a thread before the measured ones; by default a tenth of these, but at most a tenth of --duration or --limit' -r
complete -c dat-perf -s o -l outstanding -d 'Outstanding transfers of a thread, by default 64; always 1 in latency tests' -r
complete -c dat-perf -s c -l connections -d 'Connections of a thread' -r
complete -c dat-perf -l active -d 'Connections of a thread that carry traffic, in turn; by default all' -r
complete -c dat-perf -l threads -d 'Threads on each side, each with its own connections and event dispatchers' -r
complete -c dat-perf -l pause -d 'Pause before each send of send_lat, so that the peer sleeps in its wait; the pause is not measured' -r
complete -c dat-perf -l cpu -d 'CPUs of this process, which its threads use in turn; by default the system chooses' -r
complete -c dat-perf -l peer-cpu -d 'CPUs of the server that --self starts' -r
complete -c dat-perf -l limit -d 'Maximum time of one measurement; by default 120, or twice --duration plus 20 if that is more' -r
complete -c dat-perf -l self -d 'Start the server as a child process'
complete -c dat-perf -l json -d 'Write JSON instead of text'
complete -c dat-perf -s b -l both -d 'Transfer in both directions at the same time, in send_bw, write_bw and read_bw'
complete -c dat-perf -s R -l reverse -d 'Let the server make the transfers of send_bw, write_bw and read_bw'
complete -c dat-perf -l srq -d 'Take receive buffers from a shared receive queue'
complete -c dat-perf -s w -l wait -d 'Wait with dat_evd_wait instead of polling with dat_evd_dequeue'
complete -c dat-perf -l target-polls -d 'Poll at the target of RDMA with dat_evd_dequeue instead of reading its memory'
complete -c dat-perf -l verify -d 'Compare the bytes of each transfer (in write_bw, of the last write into each buffer); the measured time includes this'
complete -c dat-perf -l histogram -d 'Show a histogram for each measurement of latency; with --json for all measurements'
complete -c dat-perf -l gbits -d 'Show bandwidth in Gbit/s instead of MB/s; without effect on the names and values of --csv and --json'
complete -c dat-perf -l csv -d 'Write comma-separated values'
complete -c dat-perf -l once -d 'Exit after the first client'
complete -c dat-perf -s v -l verbose -d 'Report each client and what it measures'
complete -c dat-perf -s h -l help -d 'Print help (see more with \'--help\')'
complete -c dat-perf -s V -l version -d 'Print version'
complete -c dat-perf -n __fish_is_first_arg -fa '(dat-info --json 2>/dev/null | awk -F\" "\$2 == \"name\" { name = \$4 } \$2 == \"opens\" && /true/ { print name }")'
