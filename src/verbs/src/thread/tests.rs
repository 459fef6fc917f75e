use super::alone;

#[test]
fn a_piece_of_work_that_panics_loses_itself_alone() {
    let mut done = Vec::new();
    let kept: Vec<u32> = (0..4)
        .filter(|&piece| {
            let done = &mut done;
            alone(move || {
                assert!(piece != 1, "this piece panics");
                done.push(piece);
                piece == 2
            }) == Some(true)
        })
        .collect();
    assert_eq!(done, [0, 2, 3]);
    assert_eq!(kept, [2]);
}
