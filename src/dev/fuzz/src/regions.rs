//! Tables of registered memory in shm: a peer's table with arbitrary contents, and the program's own table with
//! arbitrary keys.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use dat_core::Rights;
use dat_shm::fuzzing::{Access, LooseTable, ROW, Range, Table};

use crate::input::Input;

const STEPS: usize = 128;

/// Number of bits of a key that select its row.
const INDEX: u32 = 18;

/// Bit of the access word: only one connection may use the row.
const ONE: u64 = 1 << 63;

/// The tables are created once for all inputs, because each reserves megabytes of address space. Each input clears the
/// rows that it used.
static LOOSE: LazyLock<Mutex<LooseTable>> = LazyLock::new(|| Mutex::new(LooseTable::new().expect("memory")));
static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(|| Mutex::new(Table::new().expect("memory")));

fn is_inside(addr: u64, len: u64, base: u64, size: u64) -> bool {
    let end = |addr: u64, len: u64| u128::from(addr) + u128::from(len);
    addr >= base && end(addr, len) <= end(base, size)
}

fn rights(input: &mut Input<'_>) -> u8 {
    input.byte() & Rights::all().bits()
}

/// Runs an input, whose first byte selects the table.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    if input.bit() { of_peer(&mut input) } else { of_owner(&mut input) }
}

/// Checks that a peer's table, with any contents, grants no access outside the range in the row of the key.
fn of_peer(input: &mut Input<'_>) {
    let table = LOOSE.lock().unwrap_or_else(|poison| poison.into_inner());
    let mut written: HashMap<u32, [u64; 5]> = HashMap::new();
    for _ in 0..STEPS {
        if input.is_over() {
            break;
        }
        let row = input.word() & ((1 << INDEX) - 1);
        match input.byte() % 4 {
            0 => {
                // The words of a row: generation and rights; zone or connection that may use it; first address that
                // peers use; size; address in memory.
                let words = [input.long(), input.long(), input.number(), input.number(), input.number()];
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                table.write(row as usize * ROW, &bytes);
                written.insert(row, words);
            }
            op => {
                let row = if op == 1 { row } else { written.keys().copied().min().unwrap_or(row) };
                let known = written.get(&row).copied().unwrap_or_default();
                let generation = if input.bit() { known[0] as u32 } else { input.word() };
                let key = generation << INDEX | row;
                let over =
                    if input.bit() { (known[1] as u32, known[1] & !ONE) } else { (input.word(), input.long() & !ONE) };
                let near = |number: u64, by: u64| number.wrapping_add(by).wrapping_sub(8);
                let (addr, len) = match op {
                    2 => (near(known[2], input.byte().into()), near(known[3], input.byte().into())),
                    _ => (input.number(), input.number()),
                };
                if let Some(found) = table.grants(&Access { key, addr, len, rights: rights(input), over }) {
                    assert!(key >> INDEX != 0, "a key of no generation is granted");
                    assert!(is_inside(addr, len, known[2], known[3]), "{addr:#x}+{len:#x} is not in {known:x?}");
                    assert!([over.0.into(), ONE | over.1].contains(&known[1]), "{over:x?} may not use {known:x?}");
                    assert_eq!(found.wrapping_sub(known[4]), addr.wrapping_sub(known[2]), "{addr:#x} in {known:x?}");
                }
            }
        }
    }
    for row in written.keys() {
        table.write(*row as usize * ROW, &[0; ROW]);
    }
}

/// Checks that the program and its peers get access to exactly the registered ranges.
fn of_owner(input: &mut Input<'_>) {
    let table = TABLE.lock().unwrap_or_else(|poison| poison.into_inner());
    let mut live: Vec<(u32, Range)> = Vec::new();
    // A revoked window keeps its row until it is removed.
    let mut revoked: Vec<u32> = Vec::new();
    for _ in 0..STEPS {
        if input.is_over() {
            break;
        }
        match input.byte() % 4 {
            0 => {
                let (addr, len, how) = (input.number(), input.number(), input.byte());
                let first = if how & 32 == 0 { addr } else { input.number() };
                let (zone, port) = (input.word(), (how & 64 != 0).then(|| input.number() & !ONE));
                let range = Range { addr, len, first, rights: rights(input), zone, port, window: how & 128 != 0 };
                let fits = addr.checked_add(len).is_some() && first.checked_add(len).is_some();
                match table.insert(&range) {
                    Some(key) => {
                        assert!(key != 0 && live.iter().all(|known| known.0 != key), "a key is given twice");
                        assert!(!revoked.contains(&key), "a row is given twice");
                        assert!(fits, "a range goes past the end of the numbers");
                        live.push((key, range));
                    }
                    None => assert!(!fits, "there is no row left"),
                }
            }
            1 => {
                let at = usize::from(input.byte());
                if at < live.len() {
                    assert!(table.remove(live.swap_remove(at).0));
                } else {
                    let key = input.word();
                    let key = if input.bit() { revoked.last().copied().unwrap_or(key) } else { key };
                    let there = live.iter().position(|known| known.0 == key);
                    let kept = revoked.iter().position(|&known| known == key);
                    assert_eq!(table.remove(key), there.is_some() || kept.is_some(), "key {key:#x}");
                    there.map(|at| live.swap_remove(at));
                    kept.map(|at| revoked.swap_remove(at));
                }
            }
            op => {
                let (key, range) = live.get(usize::from(input.byte())).copied().unwrap_or_default();
                let mut over = (range.zone, range.port.unwrap_or(0));
                let mut access = Access { key, addr: range.first, len: range.len, rights: range.rights, over };
                let change = input.byte();
                if change & 1 != 0 {
                    access.key ^= input.word();
                }
                if change & 2 != 0 {
                    access.addr = access.addr.wrapping_add(input.number());
                }
                if change & 4 != 0 {
                    access.len = access.len.wrapping_sub(input.number());
                }
                if change & 8 != 0 {
                    access.rights = rights(input);
                }
                if change & 16 != 0 {
                    over = (input.word(), input.number() & !ONE);
                    access.over = over;
                }
                let open = |known: &Range| known.port.map_or(known.zone == over.0, |port| port == over.1);
                let known = live.iter().position(|known| known.0 == access.key && open(&known.1));
                if op == 2 && change & 128 != 0 {
                    let window = known.filter(|&at| live[at].1.window);
                    assert_eq!(table.invalidate(access.key, over), window.is_some(), "key {:#x}", access.key);
                    revoked.extend(window.map(|at| live.swap_remove(at).0));
                    continue;
                }
                let right = known.map(|at| live[at].1).filter(|known| {
                    known.rights & access.rights == access.rights
                        && is_inside(access.addr, access.len, known.first, known.len)
                });
                let found = right.map(|known| known.addr + (access.addr - known.first));
                assert_eq!(table.grants(&access), [found; 2], "{access:x?}");
            }
        }
    }
    for key in live.into_iter().map(|known| known.0).chain(revoked) {
        assert!(table.remove(key));
    }
}
