complete -c dat-info -l watch -d 'With --processes, show the rates of the connections every SECONDS (1) until Ctrl-C; not with --json or --all' -r
complete -c dat-info -l api -d 'Act as a program of this version of uDAPL' -r -f -a "1.2\t'A program that is linked with libdat.so.1'
2.0\t'A program that is linked with libdat2.so.2'"
complete -c dat-info -l library -d 'Use this libdat.so.1 or libdat2.so.2 instead of the one that programs find' -r -F
complete -c dat-info -s a -l all -d 'Also list the adapters that do not open, each with the cause; with --explain, also the steps without a fault'
complete -c dat-info -l explain -d 'Show the steps of dat_ia_open for NAME or all adapters, and where the documentation describes each failure'
complete -c dat-info -l processes -d 'Show the processes that have adapters open, their connections, and what these wait for; with --all, all queues'
complete -c dat-info -l licences -d 'Print the licences of libdat and of the third-party code in its libraries and tools'
complete -c dat-info -l json -d 'Write JSON instead of text'
complete -c dat-info -s h -l help -d 'Print help (see more with \'--help\')'
complete -c dat-info -s V -l version -d 'Print version'
complete -c dat-info -n __fish_is_first_arg -fa '(dat-info --json 2>/dev/null | awk -F\" "\$2 == \"name\" { name = \$4 } \$2 == \"opens\" && /true/ { print name }")'
