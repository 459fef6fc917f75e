use super::*;

fn parse(arguments: &str) -> Result<Arguments, clap::error::ErrorKind> {
    Arguments::try_parse_from(["dat-ping"].into_iter().chain(arguments.split_whitespace()))
        .map_err(|error| error.kind())
}

#[test]
fn a_name_is_needed_except_for_both_in_one() {
    assert_eq!(parse("shm").unwrap().host, None);
    assert_eq!(parse("shm localhost -c 3 -i 0.2").unwrap().interval, 0.2);
    assert_eq!(parse("--self").unwrap().name, None);
    assert!(parse("").is_err() && parse("shm localhost --self").is_err());
}

#[test]
fn what_would_do_nothing_is_refused() {
    for client in ["-s 5", "-i 1", "-t 1", "-f", "-w 1", "-D", "--quiet"] {
        assert!(parse(&format!("shm {client}")).is_err(), "{client}");
        assert!(parse(&format!("shm localhost {client}")).is_ok(), "{client}");
        assert!(parse(&format!("shm --self {client}")).is_ok(), "{client}");
    }
    assert!(parse("shm -c 2 --json -q 7").is_ok() && parse("shm localhost -q 7").is_ok());
    assert!(parse("shm --self -q 7").is_err());
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    for wrong in [
        "-c 0",
        "-s 0",
        "-s 4294967295",
        "-i -1",
        "-i nan",
        "--timeout inf",
        "-t 0",
        "-f -i 1",
        "-q x",
        "-s 65M",
        "-w 0",
        "-c -1",
    ] {
        assert!(parse(&format!("shm localhost {wrong}")).is_err(), "{wrong}");
    }
}

#[test]
fn what_is_wrong_with_seconds_is_said() {
    for (wrong, reason) in [("-w -1", "it is between 0.001 and 86400"), ("-w x", "x is not a number of seconds")] {
        let words = format!("dat-ping shm localhost {wrong}");
        let error = Arguments::try_parse_from(words.split(' ')).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn sizes_and_counts_have_units() {
    let arguments = parse("shm localhost -s 64k -c 2K").unwrap();
    assert_eq!((arguments.size, arguments.count), (65_536, Some(2_000)));
    assert_eq!(parse("shm localhost -s 64M").unwrap().size, MAX_SIZE);
}
