use super::*;

fn part(number: u64) -> Part {
    let target = RemoteSegment { addr: number * 3, len: number * 5, key: number as u32 * 7 };
    Part { position: number, offset: number * 2, target, zone: number as u32 * 11 }
}

#[test]
fn offer_is_taken_or_withdrawn() {
    let offer = Offer::<AtomicU64>::default();
    assert!(!offer.is_open() && offer.look().is_none());
    offer.make(1, &part(1));
    assert!(offer.is_open());
    assert_eq!(offer.look(), Some((1, part(1))));
    assert_eq!(offer.resolve(1), Answer::Untaken);
    assert!(!offer.is_open() && !offer.take(1), "it is gone");

    offer.make(2, &part(2));
    assert!(!offer.take(1), "that is another one");
    assert!(offer.take(2) && !offer.take(2));
    assert!(offer.look().is_none());
    assert_eq!(offer.resolve(2), Answer::Awaited);
    assert_eq!(offer.resolve(2), Answer::Awaited);
    assert!(offer.finish(2, true), "the receiver is to be told");
    assert_eq!(offer.resolve(2), Answer::Written);

    offer.make(3, &part(3));
    assert!(offer.take(3) && !offer.finish(3, false));
    assert_eq!(offer.resolve(3), Answer::Untaken);
}

#[test]
fn waits_only_while_sender_writes() {
    let offer = Offer::<AtomicU64>::default();
    // On a busy machine, any call can take this long, but not each of them.
    let waits = || {
        (0..50).all(|_| {
            let start = Instant::now();
            offer.await_part(1);
            start.elapsed() >= PART_TIME
        })
    };
    offer.make(1, &part(1));
    assert!(!waits(), "the offer is open");
    assert!(offer.take(1));
    assert!(waits(), "the sender writes");
    assert!(!offer.finish(1, true));
    assert!(!waits(), "the part is written");
}

#[test]
fn resolves_any_word_of_sender() {
    for state in 0..1 << PROGRESS_BITS {
        for number in [0, 1, 2] {
            let offer = Offer::<AtomicU64>::default();
            offer.make(1, &part(1));
            offer.word.store(number << PROGRESS_BITS | state, Ordering::Relaxed);
            let answer = offer.resolve(1);
            let right = number == 1 && (1..=5).contains(&state);
            assert_eq!(answer == Answer::Corrupt, !right, "{number} {state}");
        }
    }
}

#[test]
fn one_side_writes_each_part() {
    let (offer, memory) = (Offer::<AtomicU64>::default(), AtomicU64::new(0));
    let rounds = 20_000;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut last = 0;
            while last < rounds {
                if let Some((number, found)) = offer.look() {
                    if offer.take(number) {
                        assert_eq!(found, part(number));
                        assert_eq!(memory.load(Ordering::Relaxed), 2 * number, "it is written while it is not offered");
                        memory.store(2 * number + 1, Ordering::Relaxed);
                        offer.finish(number, true);
                        last = number;
                    }
                }
                // The receiver may have withdrawn the last offer.
                last = last.max(offer.word.load(Ordering::Relaxed) >> PROGRESS_BITS);
            }
        });
        for number in 1..=rounds {
            memory.store(2 * number, Ordering::Relaxed);
            offer.make(number, &part(number));
            if number % 3 == 0 {
                std::thread::yield_now();
            }
            let written = loop {
                match offer.resolve(number) {
                    Answer::Written => break 1,
                    Answer::Untaken => break 0,
                    Answer::Awaited => std::thread::yield_now(),
                    Answer::Corrupt => panic!("round {number}"),
                }
            };
            assert_eq!(memory.load(Ordering::Relaxed), 2 * number + written);
        }
    });
}
