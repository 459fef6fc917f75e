use super::*;

const WRITE: Transfer = Transfer::Write { splits: false };
const SPLIT: Transfer = Transfer::Write { splits: true };
/// Lengths in KiB.
const LENGTHS: [u64; 5] = [1, 8, 20, 64, 8192];

/// The paths of transfers of [`LENGTHS`], as docs/performance.md shows them.
#[test]
fn routes_are_those_of_the_table() {
    use Route::*;
    use Transfer::*;
    let local = Peer { is_local: true, is_readable: true, reads: true, ..Peer::default() };
    let idle = Peer { is_local: false, ..local };
    let polls = Peer { polls: true, ..idle };
    let behind = Peer { is_behind: true, ..idle };
    let no_copies = Peer { is_readable: false, reads: false, ..polls };
    let unread = Peer { reads: false, ..polls };
    let table = [
        (Message, local, [Record, Record, Announced, Announced, Announced]),
        (Message, idle, [Record, Record, Announced, Announced, Announced]),
        (Message, no_copies, [Record, Record, Pieces, Pieces, Pieces]),
        (WRITE, local, [Local; 5]),
        (WRITE, polls, [Record, Record, Direct, Shared, Direct]),
        (WRITE, unread, [Record, Record, Direct, Direct, Direct]),
        (WRITE, idle, [Direct; 5]),
        (WRITE, behind, [Record, Record, Direct, Direct, Direct]),
        (WRITE, no_copies, [Pieces; 5]),
        (SPLIT, local, [Local; 5]),
        (SPLIT, polls, [Pieces, Pieces, Direct, Direct, Direct]),
        (Read, local, [Local; 5]),
        (Read, polls, [Record, Record, Direct, Direct, Direct]),
        (Read, idle, [Direct; 5]),
        (Read, behind, [Record, Record, Direct, Direct, Direct]),
        (Read, no_copies, [Pieces; 5]),
    ];
    for (transfer, peer, routes) in table {
        assert_eq!(LENGTHS.map(|len| route(transfer, len << 10, &peer)), routes, "{transfer:?} {peer:?}");
    }
}

#[test]
fn limits_belong_to_the_shorter_path() {
    let polls = Peer { is_readable: true, reads: true, polls: true, ..Peer::default() };
    for (len, expected) in [
        (EAGER_MAX, Route::Record),
        (EAGER_MAX + 1, Route::Direct),
        (SHARED_MIN - 1, Route::Direct),
        (SHARED_MIN, Route::Shared),
        (SHARED_MAX, Route::Shared),
        (SHARED_MAX + 1, Route::Direct),
    ] {
        assert_eq!(route(WRITE, len, &polls), expected, "{len}");
    }
}
