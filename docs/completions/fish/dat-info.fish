complete -c dat-info -l api -d 'Be a program of this version of uDAPL' -r -f -a "1.2\t'As programs have it that are linked with libdat.so.1'
2.0\t'As programs have it that are linked with libdat2.so.2'"
complete -c dat-info -l library -d 'Use this libdat.so.1 or libdat2.so.2 instead of the one that programs find' -r -F
complete -c dat-info -l explain -d 'Go through what dat_ia_open does, step by step, and name the section of a page for each failure'
complete -c dat-info -l processes -d 'Show which processes have an adapter of the provider shm open, and what they have sent and received'
complete -c dat-info -l licences -d 'Print the licences of libdat, and of the code of others in its libraries and tools'
complete -c dat-info -l json -d 'Write JSON for programs instead of text for people'
complete -c dat-info -s h -l help -d 'Print help (see more with \'--help\')'
complete -c dat-info -s V -l version -d 'Print version'
