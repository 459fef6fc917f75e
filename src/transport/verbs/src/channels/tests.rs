use super::*;

#[test]
fn a_refusal_takes_nothing_and_gives_nothing_back() {
    let before = CHANNELS.load(Ordering::Acquire);
    let most = before + 2;
    let held = [OwnPlace::take(most), OwnPlace::take(most)];
    assert!(held.iter().all(Option::is_some));
    for _ in 0..4 {
        assert!(OwnPlace::take(most).is_none());
        assert_eq!(CHANNELS.load(Ordering::Acquire), most);
    }
    drop(held);
    assert_eq!(CHANNELS.load(Ordering::Acquire), before);
    assert!(OwnPlace::take(0).is_none());
    assert!(OwnPlace::take(usize::MAX).is_some());
    assert_eq!(CHANNELS.load(Ordering::Acquire), before);
}

#[test]
fn places_are_reused_and_never_move() {
    let list = Mutex::default();
    let [one, two, three] = [1, 2, 3].map(Arc::new);
    add(&mut list.lock(), &one).unwrap();
    add(&mut list.lock(), &two).unwrap();
    let mut going = each(&list);
    assert_eq!(going.next().as_deref(), Some(&1));
    drop(one);
    add(&mut list.lock(), &three).unwrap();
    assert_eq!(going.next().as_deref(), Some(&2));
    assert_eq!(going.next(), None);
    let rest: Vec<_> = each(&list).map(|what| *what).collect();
    assert_eq!(rest, [3, 2]);
}
