use super::*;

#[test]
fn attempts_end_at_timeout() {
    let begin = Instant::now();
    let mut retry = ConnectRetry::new(begin);
    let mut attempts = vec![begin];
    while let Some(next) = retry.next_attempt(attempts[attempts.len() - 1]) {
        attempts.push(next);
    }
    let pauses: Vec<Duration> = attempts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(pauses[..5], [1, 2, 4, 8, 16].map(Duration::from_millis));
    assert!(pauses.iter().all(|pause| *pause <= MAX_PAUSE));
    assert_eq!(attempts.last(), Some(&(begin + LISTENER_TIMEOUT)));
}

#[test]
fn late_attempt_is_the_last() {
    let begin = Instant::now();
    let mut retry = ConnectRetry::new(begin);
    assert!(retry.next_attempt(begin).is_some());
    let late = begin + LISTENER_TIMEOUT;
    assert_eq!(retry.next_attempt(late), None);
    // The peer can request further attempts.
    assert!((late + MIN_PAUSE..=late + MAX_PAUSE).contains(&retry.again(late)));
}
