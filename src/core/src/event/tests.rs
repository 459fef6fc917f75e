use super::*;

#[test]
fn feed_determines_notification_except_for_failures() {
    // Configuration, and whether a completion notifies: by default, unsignalled, solicited, and both.
    let table = [
        (Feed::Threshold, [true, false, true, false]),
        (Feed::Unsignalled, [true, false, true, false]),
        (Feed::Solicited, [false, false, true, true]),
    ];
    let choices = [(false, false), (true, false), (false, true), (true, true)];
    for (feed, row) in table {
        for ((quiet, solicited), expected) in choices.into_iter().zip(row) {
            let case = (feed, quiet, solicited);
            assert_eq!(notifies(feed, quiet, solicited, Status::Success), expected, "{case:?}");
            for status in [Status::Flushed, Status::LocalLength, Status::Transport] {
                assert!(notifies(feed, quiet, solicited, status), "{case:?} {status:?}");
            }
        }
    }
}
