use super::*;

/// The list of a function whose first two arguments are not the operation's, when it saved the registers of all.
#[cfg(target_arch = "x86_64")]
fn behind_two(registers: &mut [u64; 6], stack: *mut u64) -> VaList {
    VaList { gp_offset: 16, reg_save_area: registers.as_mut_ptr().cast(), ..VaList::on_stack(stack) }
}

/// The list of a function whose first two arguments are not the operation's, when it saved the registers of all.
#[cfg(target_arch = "aarch64")]
fn behind_two(registers: &mut [u64; 8], stack: *mut u64) -> VaList {
    let end = registers.as_mut_ptr_range().end;
    VaList { gr_top: end.cast(), gr_offs: -48, ..VaList::on_stack(stack) }
}

#[test]
fn words_come_from_the_registers_and_then_from_the_stack() {
    let mut registers = core::array::from_fn(|register| register as u64);
    let in_registers = registers.len() as u64;
    let mut stack = [in_registers, in_registers + 1];
    let mut list = behind_two(&mut registers, stack.as_mut_ptr());
    for expected in 2..in_registers + 2 {
        // SAFETY: the list has all registers but two, and two words on the stack.
        assert_eq!(unsafe { list.next_word() }, expected);
    }
}

#[test]
fn words_may_all_be_on_the_stack() {
    let mut stack = [7u64, 8];
    let mut list = VaList::on_stack(stack.as_mut_ptr());
    // SAFETY: the list has two words.
    assert_eq!(unsafe { [list.next_word(), list.next_word()] }, [7, 8]);
}
