//! Tables of registered memory: a peer's, of which any byte may be wrong, and the own one, of which keys may be.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use dat_shm::fuzzing::{LooseTable, ROW, Table};

use crate::input::Input;

/// Steps of an input.
const STEPS: usize = 128;

/// Bits of a key for its row.
const INDEX: u32 = 18;

/// The tables serve all inputs, since each takes megabytes of address space; rows that were written are cleared again.
static LOOSE: LazyLock<Mutex<LooseTable>> = LazyLock::new(|| Mutex::new(LooseTable::new().expect("memory")));
static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(|| Mutex::new(Table::new().expect("memory")));

/// The range of an operation that is granted lies inside of the row that its key names, in whole numbers.
fn is_inside(addr: u64, len: u64, base: u64, size: u64) -> bool {
    let end = |addr: u64, len: u64| u128::from(addr) + u128::from(len);
    addr >= base && end(addr, len) <= end(base, size)
}

/// The first bit chooses the table.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    if input.bit() { of_peer(&mut input) } else { of_owner(&mut input) }
}

/// Whatever the bytes of a table say, no operation goes past the range of the row that its key names.
fn of_peer(input: &mut Input<'_>) {
    let table = LOOSE.lock().unwrap_or_else(|poison| poison.into_inner());
    let mut written: HashMap<u32, [u64; 4]> = HashMap::new();
    for _ in 0..STEPS {
        if input.is_over() {
            break;
        }
        let row = input.word() & ((1 << INDEX) - 1);
        match input.byte() % 4 {
            0 => {
                let words = [input.long(), input.long(), input.number(), input.number()];
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                table.write(row as usize * ROW, &bytes);
                written.insert(row, words);
            }
            op => {
                let row = if op == 1 { row } else { written.keys().copied().min().unwrap_or(row) };
                let known = written.get(&row).copied().unwrap_or_default();
                let generation = if input.bit() { known[0] as u32 } else { input.word() };
                let key = generation << INDEX | row;
                let zone = if input.bit() { known[1] as u32 } else { input.word() };
                let near = |number: u64, by: u64| number.wrapping_add(by).wrapping_sub(8);
                let (addr, len) = match op {
                    2 => (near(known[2], input.byte().into()), near(known[3], input.byte().into())),
                    _ => (input.number(), input.number()),
                };
                if table.grants(key, addr, len, input.byte() & 15, zone) {
                    assert!(key >> INDEX != 0, "a key of no generation is granted");
                    assert!(is_inside(addr, len, known[2], known[3]), "{addr:#x}+{len:#x} is not in {known:x?}");
                }
            }
        }
    }
    for row in written.keys() {
        table.write(*row as usize * ROW, &[0; ROW]);
    }
}

/// The owner and its peers grant what was entered and not taken out, and nothing else.
fn of_owner(input: &mut Input<'_>) {
    let table = TABLE.lock().unwrap_or_else(|poison| poison.into_inner());
    let mut live: Vec<(u32, u64, u64, u8, u32)> = Vec::new();
    for _ in 0..STEPS {
        if input.is_over() {
            break;
        }
        match input.byte() % 4 {
            0 => {
                let (addr, len, rights, zone) = (input.number(), input.number(), input.byte() & 15, input.word());
                match table.insert(addr, len, rights, zone) {
                    Some(key) => {
                        assert!(key != 0 && live.iter().all(|known| known.0 != key), "a key is given twice");
                        assert!(addr.checked_add(len).is_some(), "a range goes past the end of the address space");
                        live.push((key, addr, len, rights, zone));
                    }
                    None => assert!(addr.checked_add(len).is_none(), "there is no row left"),
                }
            }
            1 => {
                let at = usize::from(input.byte());
                if at < live.len() {
                    assert!(table.remove(live.swap_remove(at).0));
                } else {
                    let key = input.word();
                    let there = live.iter().position(|known| known.0 == key);
                    assert_eq!(table.remove(key), there.is_some(), "key {key:#x}");
                    there.map(|at| live.swap_remove(at));
                }
            }
            _ => {
                let at = usize::from(input.byte());
                let (mut key, mut addr, mut len, mut rights, mut zone) = live.get(at).copied().unwrap_or_default();
                let change = input.byte();
                if change & 1 != 0 {
                    key ^= input.word();
                }
                if change & 2 != 0 {
                    addr = addr.wrapping_add(input.number());
                }
                if change & 4 != 0 {
                    len = len.wrapping_sub(input.number());
                }
                if change & 8 != 0 {
                    rights = input.byte() & 15;
                }
                if change & 16 != 0 {
                    zone = input.word();
                }
                let right = live.iter().any(|known| {
                    known.0 == key
                        && known.4 == zone
                        && known.3 & rights == rights
                        && is_inside(addr, len, known.1, known.2)
                });
                assert_eq!(table.grants(key, addr, len, rights, zone), [right; 2], "key {key:#x} {addr:#x}+{len:#x}");
            }
        }
    }
    for known in live {
        assert!(table.remove(known.0));
    }
}
