use super::*;

#[test]
fn a_processor_that_is_not_there_is_named() {
    for processor in [CpuSet::MAX_CPU - 1, usize::MAX] {
        let error = pin(&[processor], 3).expect_err("no machine has it").to_string();
        assert!(error.contains(&processor.to_string()), "{error}");
    }
    pin(&[], 0).expect("nothing to do");
}
