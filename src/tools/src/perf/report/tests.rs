use dat_measure::testing::PLAN;

use super::*;
use crate::perf::result::Class;

/// Returns a row with made-up numbers.
pub fn row(test: Test, size: u64) -> Measurement {
    Measurement {
        adapter: "shm".to_owned(),
        test,
        size,
        iterations: 1_000,
        outstanding: 64,
        connections: 1,
        active: 1,
        threads: 1,
        srq: false,
        wait: false,
        both: false,
        reverse: false,
        min_ns: 150.0,
        median_ns: 200.0,
        mean_ns: 250.5,
        p90_ns: 300.0,
        p99_ns: 1_000.0,
        p99_9_ns: 2_000.0,
        p99_99_ns: 9_000.0,
        max_ns: 12_345.0,
        deviation_ns: 70.7,
        rate_per_s: 4_000_000.0,
        bandwidth_mb_per_s: 32.0,
        seconds: 2.0,
        cpu_seconds: 1.0,
        cpu_percent: 50.0,
        server_cpu_seconds: 2.0,
        server_cpu_percent: 100.0,
        processors: 2,
        load: 0.5,
        complete: true,
        histogram: None,
    }
}

/// Returns the lines that a table writes for these rows, without colours.
fn lines(rows: &[Measurement], gbits: bool) -> Vec<String> {
    let sizes: Vec<Plan> = rows.iter().map(|row| Plan { size: row.size, ..PLAN }).collect();
    let mut table = Table::new(&sizes, gbits);
    let text: Vec<String> = rows.iter().map(|row| table.row(row, None)).collect();
    anstream::adapter::strip_str(&text.join("\n")).to_string().lines().map(str::to_owned).collect()
}

#[test]
fn shows_a_table_for_each_kind_of_test() {
    let rows = [row(Test::SendLat, 8), row(Test::ReadLat, 4_194_304), row(Test::WriteBw, 8), row(Test::WriteBw, 4_096)];
    let shown = lines(&rows, false);
    assert_eq!(
        shown,
        [
            "TEST        BYTES MIN us MEDIAN   MEAN    P99  P99.9    MAX    DEV CPU % SERVER",
            "send_lat        8  0.150  0.200  0.251  1.000  2.000  12.35  0.071    50    100",
            "read_lat  4194304  0.150  0.200  0.251  1.000  2.000  12.35  0.071    50    100",
            "",
            "TEST        BYTES  OUTSTANDING  TRANSFERS/s      MB/s CPU % SERVER",
            "write_bw        8           64      4000000     32.00    50    100",
            "write_bw     4096           64      4000000     32.00    50    100",
        ]
    );
    assert!(shown.iter().all(|line| line.len() < 80));
    let mut table = Table { last: Some(true), ..Table::new(&[], false) };
    let interval = table.row(&rows[0], Some(Duration::from_millis(1_040)));
    assert_eq!(interval, "  1.04 s      8  0.150  0.200  0.251  1.000  2.000  12.35  0.071    50");
    assert_eq!(lines(&rows[2..3], true)[1], "write_bw      8           64      4000000     0.256    50    100");
    assert_eq!(summary(&rows[..2]), "CPU time: 2.00 s here and 4.00 s at the server, in 4.00 s of measurement.");
}

#[test]
fn shortens_numbers() {
    assert_eq!([0.0651, 9.8765, 98.765, 987.65, 123_456.7].map(short), ["0.065", "9.877", "98.77", "987.6", "123457"]);
}

#[test]
fn writes_csv() {
    assert_eq!(
        csv(&row(Test::SendLat, 8), true).expect("memory takes all"),
        "adapter,test,size,iterations,outstanding,connections,active,threads,srq,wait,both,reverse,min_ns,median_ns,mean_ns,p90_ns,\
             p99_ns,p99_9_ns,p99_99_ns,max_ns,deviation_ns,rate_per_s,bandwidth_mb_per_s,seconds,cpu_seconds,cpu_percent,server_cpu_seconds,\
             server_cpu_percent,processors,load,complete\n\
             shm,send_lat,8,1000,64,1,1,1,false,false,false,false,150.0,200.0,250.5,300.0,1000.0,2000.0,\
             9000.0,12345.0,70.7,4000000.0,32.0,2.0,1.0,50.0,2.0,100.0,2,0.5,true"
    );
}

#[test]
fn shows_histograms() {
    let class = |from_ns, to_ns, count| Class { from_ns, to_ns, count };
    let histogram = Some(vec![class(150.0, 200.0, 750), class(200.0, 250.0, 249), class(12_000.0, 15_000.0, 1)]);
    let rows = [Measurement { histogram, ..row(Test::SendLat, 8) }, row(Test::SendBw, 8)];
    let text = summary(&rows);
    let shown: Vec<_> = anstream::adapter::strip_str(&text).to_string().lines().map(str::to_owned).collect();
    assert_eq!(
        shown[..5],
        [
            "send_lat, 8 bytes:",
            "FROM us  TO us   TRANSFERS  %",
            "0.150    0.200   750        75.00  ########################################",
            "0.200    0.250   249        24.90  ##############",
            "12.000   15.000  1          0.10   #"
        ]
    );
}

#[test]
fn notes_rates_of_both_directions() {
    let text = summary(&[Measurement { both: true, ..row(Test::SendBw, 8) }]);
    assert!(text.starts_with("Transfers and bandwidth are the sums of both directions.\nCPU time: "), "{text}");
}
