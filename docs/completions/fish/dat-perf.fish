complete -c dat-perf -s q -l qualifier -d 'The connection qualifier, over IP a port, of the server; with --self the server takes any that is free' -r
complete -c dat-perf -s t -l test -d 'What to measure, with commas between several; by default all of these, with --both send_bw, write_bw and read_bw' -r -f -a "send_lat\t'Sends there and back, one at a time'
write_lat\t'RDMA writes there and back; the target spins on its memory'
read_lat\t'RDMA reads, one after the other'
send_bw\t'Many sends one way'
write_bw\t'Many RDMA writes'
read_bw\t'Many RDMA reads'"
complete -c dat-perf -s s -l size -d 'Bytes of a transfer: numbers such as 8, 64K or 4M, and ranges such as 1-4K, of powers of two' -r
complete -c dat-perf -s n -l iterations -d 'Transfers of a thread that are measured, such as 500 or 20K; by default 20,000 up to 4 KiB, 5,000 up to 64 KiB, else 500' -r
complete -c dat-perf -s D -l duration -d 'Measure for this time instead of a number of transfers' -r
complete -c dat-perf -l warmup -d 'Transfers of a thread before these; by default a tenth, but not longer than a tenth of --duration or --limit' -r
complete -c dat-perf -s o -l outstanding -d 'Transfers of a thread under way at a time, 64 if nothing is said; where latency is measured it is always 1' -r
complete -c dat-perf -s c -l connections -d 'Connections of a thread' -r
complete -c dat-perf -l active -d 'Connections of a thread that carry traffic, in turn; by default all' -r
complete -c dat-perf -l threads -d 'Threads on each side, each with connections and event dispatchers of its own' -r
complete -c dat-perf -l pause -d 'Rest before each send of send_lat, so that the peer sleeps in its wait; the rest is not counted' -r
complete -c dat-perf -l cpu -d 'The processors of this process, one after the other for each thread' -r
complete -c dat-perf -l peer-cpu -d 'The processors of the server that --self starts' -r
complete -c dat-perf -l limit -d 'The longest time of one measurement; by default 120, or twice --duration and 20 if that is more' -r
complete -c dat-perf -l svg -d 'Draw the results into this file' -r -F
complete -c dat-perf -l api -d 'Be a program of this version of uDAPL' -r -f -a "1.2\t'As programs have it that are linked with libdat.so.1'
2.0\t'As programs have it that are linked with libdat2.so.2'"
complete -c dat-perf -l library -d 'Use this libdat.so.1 or libdat2.so.2 instead of the one that programs find' -r -F
complete -c dat-perf -l self -d 'Be both: start the server as a child process'
complete -c dat-perf -s b -l both -d 'Both sides make the transfers, to each other at the same time: of send_bw, write_bw and read_bw'
complete -c dat-perf -l srq -d 'Take receive buffers from a shared receive queue'
complete -c dat-perf -s w -l wait -d 'Wait with dat_evd_wait instead of polling with dat_evd_dequeue'
complete -c dat-perf -l target-polls -d 'The target of RDMA polls with dat_evd_dequeue instead of looking at its memory'
complete -c dat-perf -l verify -d 'Compare the bytes of each transfer, which takes time that is counted; of write_bw those of the last in each buffer'
complete -c dat-perf -l percentiles -d 'Show more of how the times of latency are spread: 50, 90, 99, 99.9 and 99.99 percent, and the standard deviation'
complete -c dat-perf -l histogram -d 'Show how many times lie between which bounds, for each measurement of latency; with --json for all'
complete -c dat-perf -l csv -d 'Write comma-separated values'
complete -c dat-perf -l once -d 'End after the first client'
complete -c dat-perf -s v -l verbose -d 'Say who connects and what is measured'
complete -c dat-perf -l json -d 'Write JSON for programs instead of text for people'
complete -c dat-perf -s h -l help -d 'Print help (see more with \'--help\')'
complete -c dat-perf -s V -l version -d 'Print version'
