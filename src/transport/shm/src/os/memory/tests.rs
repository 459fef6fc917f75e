use dat_software::user::{Source, copy};

use super::*;

fn again(file: &SharedFile) -> OwnedFd {
    file.fd().try_clone_to_owned().expect("dup")
}

fn copy_in(memory: &SharedMemory, offset: usize, bytes: &[u8]) -> Found<()> {
    copy(memory.target(offset, bytes.len())?, Source::of(bytes));
    Ok(())
}

fn copy_out(memory: &SharedMemory, offset: usize, bytes: &mut [u8]) -> Found<()> {
    memory.target(offset, bytes.len())?;
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = memory.at::<AtomicU8>(offset + at)?.load(Ordering::Relaxed);
    }
    Ok(())
}

#[test]
fn shares_memory() {
    let (file, ours) = SharedMemory::create("test", 1 << 20, Access::ReadWrite).expect("create");
    let (_, theirs) = SharedMemory::open(again(&file), 1..=2 << 20, Access::ReadWrite).expect("open");
    drop(file);
    copy_in(&ours, 5000, b"hello").expect("in");
    let mut out = [0_u8; 5];
    copy_out(&theirs, 5000, &mut out).expect("out");
    assert_eq!(&out, b"hello");
    theirs.at::<AtomicU64>(64).expect("at").store(7, Ordering::Release);
    assert_eq!(ours.at::<AtomicU64>(64).expect("at").load(Ordering::Acquire), 7);
    assert_eq!(ours.view::<View<AtomicU64>>(64).expect("view").load(), 7);
}

#[test]
fn ranges_are_checked() {
    let (_, s) = SharedMemory::create("test", 8192, Access::ReadWrite).expect("create");
    assert_eq!(copy_in(&s, 8190, b"abc"), Err(OUTSIDE));
    assert_eq!(copy_in(&s, 8189, b"abc"), Ok(()));
    assert_eq!(copy_in(&s, 8192, b""), Ok(()));
    assert_eq!(copy_in(&s, usize::MAX, b"a"), Err(OUTSIDE));
    assert_eq!(copy_out(&s, 8193, &mut []), Err(OUTSIDE));
    assert!(s.at::<AtomicU64>(8184).is_ok());
    assert_eq!(s.at::<AtomicU64>(8185).err(), Some(OUTSIDE));
    assert_eq!(s.at::<AtomicU64>(4).err(), Some(OUTSIDE));
    assert_eq!(s.at::<[AtomicU32; 3]>(8184).err(), Some(OUTSIDE));
    assert_eq!(s.target(1, usize::MAX).err(), Some(OUTSIDE));
}

#[test]
fn peers_cannot_write_read_only_memory() {
    let (file, ours) = SharedMemory::create("test", 4096, Access::ReadOnly).expect("create");
    let (_, theirs) = SharedMemory::open(again(&file), 4096..=4096, Access::ReadOnly).expect("open");
    assert_eq!(theirs.at::<AtomicU32>(0).err(), Some(OUTSIDE));
    assert_eq!(copy_in(&theirs, 0, b"x"), Err(OUTSIDE));
    assert_eq!(theirs.target(0, 1).err(), Some(OUTSIDE));
    ours.at::<AtomicU32>(0).expect("at").store(9, Ordering::Relaxed);
    assert_eq!(theirs.view::<View<AtomicU32>>(0).expect("view").load(), 9);
    if fcntl_get_seals(file.fd()).expect("seals").contains(SealFlags::FUTURE_WRITE) {
        assert!(SharedMemory::open(again(&file), 4096..=4096, Access::ReadWrite).is_err());
    }
}

#[test]
fn rejects_memory_that_could_fault() {
    let refused = |fd: OwnedFd, size| {
        let error = SharedMemory::open(fd, size..=size, Access::ReadWrite).expect_err("must be refused");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
    };
    let (good, _) = SharedMemory::create("test", 8192, Access::ReadWrite).expect("create");
    refused(again(&good), 4096);
    refused(again(&good), 16384);
    refused(tempfile::tempfile().expect("file").into(), 0);
    let loose = memfd_create("loose", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).expect("memfd");
    ftruncate(&loose, 8192).expect("size");
    refused(loose, 8192);
    assert!(ftruncate(good.fd(), 4096).is_err(), "sealed");
}

#[test]
fn memory_grows_from_either_side() {
    let (ours, head) = SharedMemory::create("test", 4096, Access::Grow).expect("create");
    let (theirs, _) = SharedMemory::open(again(&ours), 4096..=usize::MAX, Access::Grow).expect("open");
    assert!(SharedMemory::open(again(&ours), 8192..=usize::MAX, Access::Grow).is_err(), "too small");
    assert!(SharedMemory::open(again(&ours), 1..=8192, Access::ReadWrite).is_err(), "not of a fixed size");
    let window = theirs.window(1 << 20, 4096).expect("beyond what is there");
    copy_in(&window, 0, b"y").expect("in");
    let mut out = [0];
    copy_out(&ours.window(1 << 20, 4096).expect("the same"), 0, &mut out).expect("out");
    assert_eq!(&out, b"y");
    assert_eq!(copy_in(&head, 4096, b"x"), Err(OUTSIDE), "a mapping stays as it is");
    ours.window(0, 8192).expect("it is longer than that already");
    assert!(ftruncate(ours.fd(), 4096).is_err(), "sealed");
}

#[test]
fn allocates_only_touched_pages() {
    let (file, s) = SharedMemory::create("test", 1 << 30, Access::ReadWrite).expect("create");
    copy_in(&s, (1 << 30) - 1, b"x").expect("in");
    assert!(fstat(file.fd()).expect("stat").st_blocks * 512 <= 2 << 20);
}

#[test]
fn rejects_invalid_sizes() {
    assert!(SharedMemory::create("test", 0, Access::ReadWrite).is_err());
    assert!(SharedMemory::create("test", usize::MAX, Access::ReadWrite).is_err());
    assert!(SharedMemory::create("a\0b", 4096, Access::ReadWrite).is_err());
}
