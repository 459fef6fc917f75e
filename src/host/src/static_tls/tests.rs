use super::*;

#[test]
fn each_thread_has_a_word_of_its_own() {
    assert_eq!(word(), 0);
    // SAFETY: nobody reads the word of this thread as anything.
    unsafe { set_word(1) };
    let another = || {
        assert_eq!(word(), 0);
        // SAFETY: nobody reads the word of this thread as anything.
        unsafe { set_word(2) };
        word()
    };
    assert_eq!(std::thread::spawn(another).join().expect("no panic"), 2);
    assert_eq!(word(), 1);
    // SAFETY: nobody reads the word of this thread as anything.
    unsafe { set_word(0) };
    assert_eq!(word(), 0);
}
