use super::*;

/// Returns the list of a function with two named arguments.
#[cfg(target_arch = "x86_64")]
fn after_two(registers: &mut [u64; 6], stack: *mut u64) -> VaList {
    VaList { gp_offset: 16, reg_save_area: registers.as_mut_ptr().cast(), ..VaList::on_stack(stack) }
}

/// Returns the list of a function with two named arguments.
#[cfg(target_arch = "aarch64")]
fn after_two(registers: &mut [u64; 8], stack: *mut u64) -> VaList {
    let end = registers.as_mut_ptr_range().end;
    VaList { gr_top: end.cast(), gr_offs: -48, ..VaList::on_stack(stack) }
}

#[test]
fn reads_registers_before_stack() {
    let mut registers = core::array::from_fn(|register| register as u64);
    let in_registers = registers.len() as u64;
    let mut stack = [in_registers, in_registers + 1];
    let mut list = after_two(&mut registers, stack.as_mut_ptr());
    for expected in 2..in_registers + 2 {
        // SAFETY: the list contains all registers but two, and two words on the stack.
        assert_eq!(unsafe { list.next_word() }, expected);
    }
}

#[test]
fn reads_words_on_stack() {
    let mut stack = [7u64, 8];
    let mut list = VaList::on_stack(stack.as_mut_ptr());
    // SAFETY: the list contains two words.
    assert_eq!([(); 2].map(|()| unsafe { list.next_word() }), [7, 8]);
}
