use super::*;

#[test]
fn last_piece_holds_a_word() {
    for len in 0..200_u64 {
        let mut rest = len;
        loop {
            let now = piece(rest, 30);
            assert!(now <= 30 && now <= rest);
            rest -= now;
            if rest == 0 {
                assert!(now >= len.min(WORD), "{len}");
                break;
            }
            assert!(now > 0);
        }
    }
}
