use super::*;

#[test]
fn fails_after_wrong_bytes_of_any_client() {
    let totals = Totals::default().with(6, 0);
    assert_eq!((totals.clients, totals.transfers, totals.outcome()), (1, 6, Outcome::Fine));
    let totals = totals.with(3, 1).with(2, 0);
    assert_eq!(totals, Totals { clients: 3, transfers: 11, wrong: 1 });
    assert_eq!(totals.outcome(), Outcome::Failure);
}

#[test]
fn computes_the_memory_of_a_client() {
    // Three areas, and four buffers each way on two connections.
    assert_eq!(memory_for(48), 3 * 48 + 16 * 64);
    assert!(memory_for(crate::ping::MAX_SIZE) > 19 * u64::from(crate::ping::MAX_SIZE));
    assert_eq!(memory_for(0), 16 * 64);
}
