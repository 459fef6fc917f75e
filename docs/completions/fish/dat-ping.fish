complete -c dat-ping -s q -l qualifier -d 'Connection qualifier of the server, over IP a port (also -p and --port); by default 18515 for dat-ping and 18516 for dat-perf, and with --self any free one' -r
complete -c dat-ping -l api -d 'Act as a program of this version of uDAPL' -r -f -a "1.2\t'A program that is linked with libdat.so.1'
2.0\t'A program that is linked with libdat2.so.2'"
complete -c dat-ping -l library -d 'Use this libdat.so.1 or libdat2.so.2 instead of the one that programs find' -r -F
complete -c dat-ping -s c -l count -d 'End after this many rounds, or as a server after this many clients; default: until Ctrl-C' -r
complete -c dat-ping -s s -l size -d 'Bytes of each transfer: a number such as 64, 64K or 4M' -r
complete -c dat-ping -s i -l interval -d 'Seconds from the start of a round to the start of the next' -r
complete -c dat-ping -s t -l timeout -d 'Seconds to wait for a connection or a reply before the round counts as lost' -r
complete -c dat-ping -s w -l deadline -d 'End after this time; the exit status is 1 if --count requests more rounds' -r
complete -c dat-ping -l self -d 'Start the server as a child process'
complete -c dat-ping -l json -d 'Write JSON instead of text'
complete -c dat-ping -l wait -d 'Sleep on both sides until a message arrives, instead of polling'
complete -c dat-ping -s f -l flood -d 'Begin each round when the last one ends, and write only the summary'
complete -c dat-ping -l quiet -d 'Write only the first line and the summary'
complete -c dat-ping -s D -l timestamps -d 'Begin each line before the summary with the time, in seconds since 1970'
complete -c dat-ping -s h -l help -d 'Print help (see more with \'--help\')'
complete -c dat-ping -s V -l version -d 'Print version'
complete -c dat-ping -n __fish_is_first_arg -fa '(dat-info --json 2>/dev/null | awk -F\" "\$2 == \"name\" { name = \$4 } \$2 == \"opens\" && /true/ { print name }")'
