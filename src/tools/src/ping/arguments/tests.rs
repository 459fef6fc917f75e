use super::*;

fn parse(arguments: &str) -> Result<Arguments, clap::error::ErrorKind> {
    Arguments::try_parse_from(["dat-ping"].into_iter().chain(arguments.split_whitespace()))
        .map_err(|error| error.kind())
}

#[test]
fn requires_a_name_unless_the_server_is_a_child() {
    assert_eq!(parse("shm").unwrap().peer.host, None);
    assert_eq!(parse("shm localhost -c 3 -i 0.2").unwrap().interval, 0.2);
    assert_eq!(parse("--self").unwrap().name, None);
    assert!(parse("").is_err() && parse("shm localhost --self").is_err());
}

#[test]
fn rejects_options_without_effect() {
    for client in ["-s 5", "-i 1", "-t 1", "-f", "-w 1", "-D", "--quiet"] {
        assert!(parse(&format!("shm {client}")).is_err(), "{client}");
        assert!(parse(&format!("shm localhost {client}")).is_ok(), "{client}");
        assert!(parse(&format!("shm --self {client}")).is_ok(), "{client}");
    }
    assert!(parse("shm -c 2 --json -q 7").is_ok() && parse("shm localhost -q 7").is_ok());
    assert!(parse("shm --self -q 7").is_err());
}

#[test]
fn rejects_invalid_numbers() {
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
fn describes_invalid_seconds() {
    for (wrong, reason) in [("-w -1", "must be between 0.001 and 86400"), ("-w x", "x is not a number of seconds")] {
        let words = format!("dat-ping shm localhost {wrong}");
        let error = Arguments::try_parse_from(words.split(' ')).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn parses_units_of_sizes_and_counts() {
    let arguments = parse("shm localhost -s 64k -c 2K").unwrap();
    assert_eq!((arguments.size, arguments.count), (65_536, Some(2_000)));
    assert_eq!(parse("shm localhost -s 64M").unwrap().size, MAX_SIZE);
}
