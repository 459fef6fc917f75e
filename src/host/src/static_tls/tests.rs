use super::*;

#[test]
fn each_thread_has_its_own_word() {
    assert_eq!(word(), 0);
    // SAFETY: no module uses the word of this thread.
    unsafe { set_word(1) };
    let another = || {
        assert_eq!(word(), 0);
        // SAFETY: no module uses the word of this thread.
        unsafe { set_word(2) };
        word()
    };
    assert_eq!(std::thread::spawn(another).join().expect("no panic"), 2);
    assert_eq!(word(), 1);
    // SAFETY: no module uses the word of this thread.
    unsafe { set_word(0) };
    assert_eq!(word(), 0);
}
