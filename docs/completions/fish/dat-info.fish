complete -c dat-info -l library -d 'Use this libdat.so.1 instead of the one that programs find' -r -F
complete -c dat-info -l explain -d 'Go through what dat_ia_open does, step by step, and name the section of a page for each failure'
complete -c dat-info -l json -d 'Write JSON for programs instead of text for people'
complete -c dat-info -s h -l help -d 'Print help (see more with \'--help\')'
complete -c dat-info -s V -l version -d 'Print version'
