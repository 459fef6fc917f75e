use super::*;

#[test]
fn an_obstacle_survives_its_packet() {
    for wanted in [None].into_iter().chain(Obstacle::ALL.map(Some)) {
        let mut packet = Vec::new();
        wanted.put(&mut packet);
        assert_eq!(<Option<Obstacle> as Field>::take(&mut &packet[..]), Some(wanted));
    }
    assert_eq!(<Option<Obstacle> as Field>::take(&mut &[7][..]), None);
}

#[test]
fn reads_namespaces_and_capabilities() {
    let status = "Name:\tx\nNSpid:\t4711\t12\nCapEff:\t0000000000080000\n";
    assert_eq!(namespace_ids(status).collect::<Vec<_>>(), ["4711", "12"]);
    assert!(field(status, "CapEff:").is_some_and(may_trace));
    assert!(!may_trace("\t000001ffff7ffff") && !may_trace(""));
}

#[test]
fn this_process_can_read_itself() {
    assert!(can_read_itself());
}
