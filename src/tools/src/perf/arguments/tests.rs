use super::*;

#[test]
fn parses_sizes_and_ranges() {
    assert_eq!(sizes("8,4K,1M"), Ok(Sizes(vec![8, 4_096, 1_048_576])));
    assert_eq!(sizes("1-8,1k-5K"), Ok(Sizes(vec![1, 2, 4, 8, 1_024, 2_048, 4_096])));
    assert_eq!(sizes("2G"), Ok(Sizes(vec![MAX_SIZE])));
    for wrong in ["", "0", "x", "8x", "8-", "-8", "9-8", "3G", "1,,2", "99999999999999999999", "99999999999G"] {
        assert!(sizes(wrong).is_err(), "{wrong}");
    }
    assert_eq!(sizes("1,,2"), Err("a size is empty".to_owned()));
}

#[test]
fn rejects_invalid_values() {
    for wrong in [
        "--limit 0",
        "--limit 200001",
        "-D 0",
        "-D 86401",
        "-D nan",
        "-i 0.01",
        "-i 1 --csv",
        "-i 1 --json",
        "-D 1 -n 5",
        "--histogram --csv",
        "--limit 18446744073709551615",
        "-n 0",
        "-n 18446744073709551615",
        "--warmup 18446744073709551615",
        "--pause 1000001",
        "--outstanding 0",
        "--threads 0",
        "--size 0",
        "--test none",
        "--csv --json",
        "--both -R",
    ] {
        let words = format!("dat-perf shm --self {wrong}");
        assert!(Arguments::try_parse_from(words.split(' ')).is_err(), "{wrong}");
    }
}

#[test]
fn negative_numbers_are_values() {
    for wrong in ["-D -1", "--limit -1", "--pause -1", "-q -1"] {
        let host = format!("dat-perf shm host {wrong}");
        let error = Arguments::try_parse_from(host.split(' ')).unwrap_err().to_string();
        assert!(error.contains("must be between "), "{wrong}: {error}");
    }
}

#[test]
fn errors_show_a_short_usage() {
    let error = Arguments::try_parse_from("dat-perf shm --self --json --bogus".split(' ')).unwrap_err().to_string();
    assert!(error.contains("Usage: dat-perf ") && !error.contains("--api"), "{error}");
}

#[test]
fn measures_each_test_with_each_size() {
    let arguments =
        Arguments::parse_from(["dat-perf", "shm", "--self", "--test", "send_lat,read_bw", "--size", "8,1M"]);
    let plans = arguments.plans();
    let seen: Vec<_> = plans.iter().map(|plan| (plan.test, plan.size, plan.iterations, plan.outstanding)).collect();
    assert_eq!(
        seen,
        [
            (Test::SendLat, 8, 20_000, 1),
            (Test::SendLat, 1 << 20, 500, 1),
            (Test::ReadBw, 8, 20_000, 64),
            (Test::ReadBw, 1 << 20, 500, 64)
        ]
    );
    assert!(plans.iter().all(Plan::is_possible));
}

#[test]
fn arguments_override_defaults() {
    let arguments = Arguments::parse_from(
        "dat-perf shm host -n 7 --warmup 0 -o 3 -c 5 --active 4 --threads 2 --pause 50 --test send_bw,send_lat -s 8"
            .split(' '),
    );
    let plans = arguments.plans();
    let (plan, latency) = (plans[0], plans[1]);
    assert_eq!((plan.iterations, plan.warmup, plan.outstanding, plan.connections), (7, 0, 3, 5));
    assert_eq!((plan.active, plan.threads, plan.pause), (4, 2, 0));
    assert_eq!((latency.outstanding, latency.pause), (1, 50));
}

#[test]
fn default_limit_exceeds_the_duration() {
    let parse = |words: &str| Arguments::parse_from(words.split(' '));
    let plan = parse("dat-perf shm --self -n 20K --warmup 1k -c 1K").plans()[0];
    assert_eq!((plan.iterations, plan.warmup, plan.connections), (20_000, 1_000, 1_000));
    let limits = ["", " -D 1.5", " -D 300", " -D 300 --limit 400"]
        .map(|more| parse(&format!("dat-perf shm --self{more}")).seconds());
    assert_eq!(limits, [120, 120, 620, 400]);
}

#[test]
fn default_tests() {
    assert_eq!(Arguments::parse_from(["dat-perf", "shm", "--self"]).test, Test::ALL);
    let both = Arguments::parse_from(["dat-perf", "shm", "--self", "--both"]);
    assert_eq!((both.contradiction(), both.test), (None, vec![Test::SendBw, Test::WriteBw, Test::ReadBw]));
    let reverse = Arguments::parse_from(["dat-perf", "shm", "--self", "-R"]);
    assert_eq!((reverse.contradiction(), reverse.test), (None, vec![Test::SendBw, Test::WriteBw, Test::ReadBw]));
}

#[test]
fn finds_contradictions() {
    let contradiction =
        |words: &str| Arguments::try_parse_from(words.split(' ')).expect("each argument is a good one").contradiction();
    for wrong in [
        "shm --json",
        "shm --self -c 5 --active 6",
        "shm host --active 2",
        "shm host --peer-cpu 0",
        "shm --self -D 5 --limit 5",
        "shm --self -t send_bw --histogram",
        "shm --self --both --histogram",
        "shm --self -R -t send_lat",
    ] {
        assert!(contradiction(&format!("dat-perf {wrong}")).is_some(), "{wrong}");
    }
    for right in [
        "shm",
        "shm --self --json",
        "shm host --json",
        "shm --self -c 5 --active 5",
        "shm --self -D 300",
        "shm host -t send_lat,send_bw --histogram",
        "shm host -t send_bw --json --histogram",
    ] {
        assert_eq!(contradiction(&format!("dat-perf {right}")), None, "{right}");
    }
}

#[test]
fn rejects_options_without_effect() {
    let parse = |words: &str| Arguments::try_parse_from(words.split(' '));
    for client in [
        "-t send_lat",
        "-s 8",
        "-n 1",
        "--warmup 1",
        "-o 1",
        "-c 1",
        "--active 1",
        "--threads 1",
        "--srq",
        "--wait",
        "--pause 1",
        "--histogram",
        "-D 1",
        "--verify",
        "--gbits",
        "-R",
        "-i 1",
        "--csv",
        "--peer-cpu 0",
    ] {
        assert!(parse(&format!("dat-perf shm {client}")).is_err(), "{client}");
        assert!(parse(&format!("dat-perf shm --self {client}")).is_ok(), "{client}");
    }
    for server in ["--verbose", "--once", "--announce"] {
        assert!(parse(&format!("dat-perf shm {server}")).is_ok(), "{server}");
        assert!(parse(&format!("dat-perf shm --self {server}")).is_err(), "{server}");
        assert!(parse(&format!("dat-perf shm host {server}")).is_err(), "{server}");
    }
    assert!(parse("dat-perf shm -q 7").is_ok() && parse("dat-perf shm host -q 7").is_ok());
    assert_eq!(parse("dat-perf shm host -p 7").unwrap().peer.qualifier, Some(7));
    assert!(parse("dat-perf shm --port 7").is_ok() && parse("dat-perf shm -p 7 -q 7").is_err());
    assert!(parse("dat-perf shm --self -q 7").is_err() && parse("dat-perf shm localhost --self").is_err());
    assert!(parse("dat-perf shm --cpu 0 --limit 5").is_ok());
}
