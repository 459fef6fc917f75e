use super::*;

/// A row with made-up numbers.
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
        min_ns: 150.0,
        median_ns: 200.0,
        mean_ns: 250.5,
        p99_ns: 1_000.0,
        max_ns: 12_345.0,
        rate_per_s: 4_000_000.0,
        bandwidth_mb_per_s: 32.0,
        seconds: 2.0,
        cpu_seconds: 1.0,
        cpu_percent: 50.0,
        server_cpu_seconds: 2.0,
        server_cpu_percent: 100.0,
    }
}

#[test]
fn people_see_two_tables_and_the_processor_time() {
    let rows = [row(Test::SendLat, 8), row(Test::WriteBw, 8), row(Test::WriteBw, 4_096)];
    let shown = anstream::adapter::strip_str(&text(&rows)).to_string();
    assert_eq!(
        shown,
        "TEST      BYTES  MIN us  MEDIAN us  MEAN us  99 % us  MAX us  CPU %  SERVER CPU %\n\
             send_lat  8      0.150   0.200      0.251    1.000    12.345  50     100\n\
             \n\
             TEST      BYTES  OUTSTANDING  TRANSFERS/s  MB/s   CPU %  SERVER CPU %\n\
             write_bw  8      64           4000000      32.00  50     100\n\
             write_bw  4096   64           4000000      32.00  50     100\n\
             \n\
             Processor time: 3.00 s here and 6.00 s at the server, in 6.00 s of measurement."
    );
}

#[test]
fn programs_see_names_and_numbers() {
    assert_eq!(
        csv(&[row(Test::SendLat, 8)]).expect("memory takes all"),
        "adapter,test,size,iterations,outstanding,connections,active,threads,srq,wait,min_ns,median_ns,mean_ns,p99_ns,\
             max_ns,rate_per_s,bandwidth_mb_per_s,seconds,cpu_seconds,cpu_percent,server_cpu_seconds,\
             server_cpu_percent\n\
             shm,send_lat,8,1000,64,1,1,1,false,false,150.0,200.0,250.5,1000.0,12345.0,4000000.0,32.0,2.0,1.0,50.0,2.0,100.0"
    );
}
