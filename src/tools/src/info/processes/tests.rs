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
    assert_eq!(row.len(), 16);
    assert!(row.iter().enumerate().all(|(at, cell)| cell == "-" || at == 2), "{row:?}");
}

#[test]
fn names_the_obstacle_to_direct_copies() {
    let of = |peers, direct_peers, obstacle| {
        direct(&OpenAdapter { peers, direct_peers, obstacle, ..OpenAdapter::default() })
    };
    assert_eq!(of(0, 0, None), "-");
    assert_eq!(of(2, 2, None), "yes");
    assert_eq!(of(3, 2, None), "2/3");
    assert_eq!(of(0, 0, Some(Obstacle::Variable)), "no:DAT_SHM_VM");
    assert_eq!(of(3, 2, Some(Obstacle::PeerVariable)), "2/3:peer");
}
