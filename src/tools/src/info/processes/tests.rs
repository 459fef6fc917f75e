use super::*;

#[test]
fn shortens_bytes_and_times() {
    let short = [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1_572_864, "1.5 MiB"), (u64::MAX, "16.0 EiB")];
    assert!(short.iter().all(|&(number, text)| bytes(number) == text), "{short:?}");
    let times = [(59, "00:59"), (3_600, "01:00:00"), (90_061, "1-01:01:01")];
    assert!(times.iter().all(|&(seconds, text)| age(seconds) == text), "{times:?}");
}

#[test]
fn a_silent_process_has_a_row() {
    let process = Process { pid: 0, adapters: None };
    let found = Found { user: u32::MAX, directory: PathBuf::new(), command: None, process };
    let [row] = &rows(&found)[..] else { panic!("one row") };
    assert_eq!(row.len(), 14);
    assert!(row.iter().enumerate().all(|(at, cell)| cell == "-" || at == 2), "{row:?}");
}
