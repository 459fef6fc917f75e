use anyhow::anyhow;

use super::{OtherFailed, cause};

#[test]
fn reports_the_failure_that_ended_other_threads() {
    let other = || anyhow!(OtherFailed).context("turn 3");
    let of = |errors: Vec<anyhow::Error>| cause(errors.into_iter()).map(|error| error.root_cause().to_string());
    assert_eq!(of(vec![]), None);
    assert_eq!(of(vec![other(), anyhow!("flushed")]), Some("flushed".to_owned()));
    assert_eq!(of(vec![anyhow!("flushed"), other(), anyhow!("later")]), Some("flushed".to_owned()));
    assert_eq!(of(vec![other(), other()]), Some("another thread has failed".to_owned()));
}
