complete -c dat-ping -s c -l count -d 'End after this many rounds, or as a server after this many clients; by default Ctrl-C ends it' -r
complete -c dat-ping -s s -l size -d 'Bytes of each transfer: a number such as 64, 64K or 4M' -r
complete -c dat-ping -s i -l interval -d 'Seconds from the beginning of a round to that of the next' -r
complete -c dat-ping -s t -l timeout -d 'Seconds to wait for a connection or an answer before it counts as lost' -r
complete -c dat-ping -s w -l deadline -d 'End after this time, however many rounds there were; if --count wants more of them, the exit status is 1' -r
complete -c dat-ping -s q -l qualifier -d 'The connection qualifier, over IP a port, of the server; with --self the server takes any that is free' -r
complete -c dat-ping -l api -d 'Be a program of this version of uDAPL' -r -f -a "1.2\t'As programs have it that are linked with libdat.so.1'
2.0\t'As programs have it that are linked with libdat2.so.2'"
complete -c dat-ping -l library -d 'Use this libdat.so.1 or libdat2.so.2 instead of the one that programs find' -r -F
complete -c dat-ping -l self -d 'Be both: start the server as a child process'
complete -c dat-ping -s f -l flood -d 'Flood: the next round begins as soon as the last one ends, and only the summary is written'
complete -c dat-ping -l quiet -d 'Write the first line and the summary alone'
complete -c dat-ping -s D -l timestamps -d 'Begin each line before the summary with the time, in seconds since 1970'
complete -c dat-ping -l json -d 'Write JSON for programs instead of text for people'
complete -c dat-ping -s h -l help -d 'Print help (see more with \'--help\')'
complete -c dat-ping -s V -l version -d 'Print version'
