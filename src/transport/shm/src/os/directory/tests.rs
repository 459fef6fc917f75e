use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Barrier;
use std::thread;
use std::time::UNIX_EPOCH;

use rustix::fs::{Timespec, Timestamps, utimensat};

use super::*;
use crate::os::twin::Twin;

fn place() -> (tempfile::TempDir, Arc<Directory>) {
    let dir = tempfile::tempdir().expect("dir");
    let directory = open(&dir.path().join("shm")).expect("open");
    (dir, directory)
}

fn open(path: &Path) -> io::Result<Arc<Directory>> {
    Directory::open(path.to_str().expect("text"))
}

fn is_taken(claim: io::Result<Claim>) -> bool {
    claim.is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
}

fn names(directory: &Directory) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory.path())
        .expect("read")
        .map(|entry| entry.expect("entry").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    names
}

/// Leaves the same entry as a process that dies: a socket without a listener.
fn corpse(directory: &Directory, pid: u32) -> SocketName {
    let name = SocketName::parse(&format!("p-{pid}-{:016x}", random())).expect("name");
    drop(Socket::listen(&directory.socket_path(&name)).expect("bind"));
    name
}

/// Leaves the same entry as a process that dies with a service point.
fn leave(directory: &Directory, qualifier: u64, owner: &str) {
    let claim = directory.path().join(claim_name(qualifier));
    fs::create_dir(&claim).expect("mkdir");
    symlink(owner, claim.join(OWNER)).expect("link");
}

#[test]
fn a_directory_is_made_for_the_user_alone() {
    let (dir, directory) = place();
    let mode = fs::metadata(directory.path()).expect("stat").permissions().mode();
    assert_eq!(mode & 0o7777, 0o700);
    assert!(open(directory.path()).is_ok(), "it can be opened again");
    assert!(open(&dir.path().join("shm/")).is_ok());
    assert!(open(&dir.path().join("no/such")).is_err());
}

#[test]
fn a_directory_that_is_not_safe_is_refused() {
    let dir = tempfile::tempdir().expect("dir");
    let real = dir.path().join("real");
    open(&real).expect("open");
    let link = dir.path().join("link");
    symlink(&real, &link).expect("link");
    let file = dir.path().join("file");
    fs::write(&file, "").expect("file");
    let wide = dir.path().join("wide");
    fs::create_dir(&wide).expect("mkdir");
    fs::set_permissions(&wide, fs::Permissions::from_mode(0o750)).expect("chmod");
    let mut bad = vec![
        (link.clone(), "symbolic link"),
        (link.join(""), "symbolic link"),
        (file, "not a directory"),
        (wide, "mode 750"),
    ];
    if geteuid().is_root() {
        let foreign = dir.path().join("foreign");
        fs::create_dir(&foreign).expect("mkdir");
        std::os::unix::fs::chown(&foreign, Some(12345), None).expect("chown");
        bad.push((foreign, "belongs to user 12345"));
    }
    for (path, why) in bad {
        let error = open(&path).expect_err("must be refused").to_string();
        assert!(error.contains(why) && error.contains(path.components().as_path().to_str().expect("text")), "{error}");
    }
}

#[test]
fn names_of_other_forms_are_not_taken() {
    assert!(SocketName::parse("p-1-0123456789abcdef").is_some());
    for bad in [
        "",
        "p-1",
        "p--0123456789abcdef",
        "p-x-0123456789abcdef",
        "p-1-0123456789ABCDEF",
        "p-1-0123456789abcde",
        "p-1-0123456789abcdef0",
        "../p-1-0123456789abcdef",
        "p-1/-0123456789abcdef",
        "p-12345678901-0123456789abcdef",
    ] {
        assert_eq!(SocketName::parse(bad), None, "{bad}");
    }
}

#[test]
fn a_process_can_be_reached_until_it_goes() {
    let (_dir, directory) = place();
    let reachable = directory.listen().expect("listen");
    assert_eq!(names(&directory), [reachable.name.as_str()]);
    assert_eq!(SocketName::parse(reachable.name.as_str()).as_ref(), Some(&reachable.name));
    let _ours = directory.connect(&reachable.name).expect("connect");
    assert!(reachable.listener.accept().expect("accept").is_some());
    let name = reachable.name.clone();
    drop(reachable);
    assert!(names(&directory).is_empty());
    assert!(matches!(directory.connect(&name), Err(Errno::CONNREFUSED)));
}

#[test]
fn a_qualifier_has_one_owner() {
    let (_dir, directory) = place();
    let (one, two) = (directory.listen().expect("listen"), directory.listen().expect("listen"));
    let most = u64::MAX;
    assert_eq!(directory.lookup(most).expect("lookup"), None);
    let claim = directory.claim(most, &one).expect("claim");
    assert_eq!(claim.qualifier, most);
    assert_eq!(directory.lookup(most).expect("lookup").as_ref(), Some(&one.name));
    assert!(is_taken(directory.claim(most, &two)));
    assert!(is_taken(directory.claim(most, &one)), "not even twice the same");
    let other = directory.claim(0, &two).expect("another");
    drop(claim);
    assert_eq!(directory.lookup(most).expect("lookup"), None);
    assert_eq!(directory.lookup(0).expect("lookup").as_ref(), Some(&two.name));
    drop(directory.claim(most, &two).expect("free again"));
    drop(other);
    assert_eq!(names(&directory).len(), 2);
}

#[test]
fn a_dead_owner_is_replaced() {
    let (_dir, directory) = place();
    let live = directory.listen().expect("listen");
    let dead = corpse(&directory, process::id());
    let gone = SocketName::new();
    for owner in [dead.as_str(), gone.as_str(), "nonsense", "/etc/passwd"] {
        leave(&directory, 5, owner);
        let claim = directory.claim(5, &live).expect("replaced");
        assert_eq!(directory.lookup(5).expect("lookup").as_ref(), Some(&live.name), "{owner}");
        drop(claim);
    }
}

#[test]
fn a_claim_keeps_its_process_within_reach() {
    let (_dir, directory) = place();
    let (one, two) = (directory.listen().expect("listen"), directory.listen().expect("listen"));
    let first = directory.claim(5, &one).expect("claim");
    drop(one);
    assert!(is_taken(directory.claim(5, &two)));
    drop(first);
    let second = directory.claim(5, &two).expect("free");
    drop(two);
    drop(second);
    assert!(names(&directory).is_empty(), "{:?}", names(&directory));
}

#[test]
fn a_slow_process_takes_no_claim_from_a_successor() {
    let (_dir, directory) = place();
    let live = directory.listen().expect("listen");
    let dead = corpse(&directory, process::id());
    leave(&directory, 5, dead.as_str());
    // A process has found the owner dead, and is stopped before it removes the owner's entry.
    let claim = directory.claim(5, &live).expect("the owner is dead");
    directory.empty(&claim_name(5), Some(dead.as_str())).expect("nothing to do");
    directory.remove_if_empty(&claim_name(5)).expect("nothing to do");
    assert_eq!(directory.lookup(5).expect("lookup").as_ref(), Some(&live.name));
    drop(claim);
    // Another process is stopped between removing the entry and removing the claim.
    fs::create_dir(directory.path().join(claim_name(6))).expect("mkdir");
    let claim = directory.claim(6, &live).expect("nobody has it");
    directory.remove_if_empty(&claim_name(6)).expect("it is not empty");
    assert_eq!(directory.lookup(6).expect("lookup").as_ref(), Some(&live.name));
    drop(claim);
}

#[test]
fn what_is_no_claim_is_replaced_or_counts_as_taken() {
    let (_dir, directory) = place();
    let live = directory.listen().expect("listen");
    fs::write(directory.path().join(claim_name(1)), "").expect("file");
    symlink(live.name.as_str(), directory.path().join(claim_name(2))).expect("link");
    for qualifier in [1, 2] {
        drop(directory.claim(qualifier, &live).expect("replaced"));
    }
    let odd = directory.path().join(claim_name(3));
    fs::create_dir(&odd).expect("mkdir");
    fs::write(odd.join("something else"), "").expect("file");
    assert!(is_taken(directory.claim(3, &live)));
    assert_eq!(directory.lookup(3).expect("lookup"), None);
}

#[test]
fn a_directory_gets_its_rights_back() {
    let (_dir, directory) = place();
    for mode in [0o000, 0o500, 0o400, 0o300] {
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(mode)).expect("chmod");
        let again = open(directory.path()).expect("open");
        assert_eq!(fs::metadata(again.path()).expect("stat").permissions().mode() & 0o7777, 0o700);
    }
}

#[test]
fn of_many_that_replace_a_dead_owner_one_wins() {
    const THREADS: usize = 8;
    let (_dir, directory) = place();
    let live: Vec<Arc<Reachable>> = (0..THREADS).map(|_| directory.listen().expect("listen")).collect();
    let dead = corpse(&directory, process::id());
    for round in 0..100 {
        leave(&directory, round, dead.as_str());
        let start = Barrier::new(THREADS);
        let claims: Vec<Option<Claim>> = thread::scope(|scope| {
            let tasks: Vec<_> = live
                .iter()
                .map(|own| {
                    let (directory, start) = (&directory, &start);
                    scope.spawn(move || {
                        start.wait();
                        match directory.claim(round, own) {
                            Ok(claim) => Some(claim),
                            Err(error) if error.kind() == io::ErrorKind::AddrInUse => None,
                            Err(error) => panic!("{error}"),
                        }
                    })
                })
                .collect();
            tasks.into_iter().map(|task| task.join().expect("thread")).collect()
        });
        let winners: Vec<usize> = (0..THREADS).filter(|&i| claims[i].is_some()).collect();
        assert_eq!(winners.len(), 1, "round {round}");
        assert_eq!(directory.lookup(round).expect("lookup").as_ref(), Some(&live[winners[0]].name));
    }
}

#[test]
fn any_free_qualifier_is_found() {
    let (_dir, directory) = place();
    let live = directory.listen().expect("listen");
    let mut claims: Vec<Claim> = (0..5).map(|_| directory.claim_any(10..=14, &live).expect("free")).collect();
    let mut found: Vec<u64> = claims.iter().map(|claim| claim.qualifier).collect();
    found.sort_unstable();
    assert_eq!(found, [10, 11, 12, 13, 14]);
    assert!(is_taken(directory.claim_any(10..=14, &live)));
    let freed = claims.pop().expect("one").qualifier;
    assert_eq!(directory.claim_any(10..=14, &live).expect("free").qualifier, freed);
    let dead = corpse(&directory, process::id());
    leave(&directory, 20, dead.as_str());
    assert_eq!(directory.claim_any(20..=20, &live).expect("the owner is dead").qualifier, 20);
    let any = directory.claim_any(ANY, &live).expect("free");
    assert!(ANY.contains(&any.qualifier));
    assert!(directory.claim_any(0..=u64::MAX, &live).is_ok());
    #[allow(clippy::reversed_empty_ranges)]
    let none = 2..=1;
    assert!(is_taken(directory.claim_any(none, &live)));
}

#[test]
fn what_the_dead_left_is_swept_away() {
    let (_dir, directory) = place();
    let live = directory.listen().expect("listen");
    let claim = directory.claim(1, &live).expect("claim");
    let dead = corpse(&directory, Twin::dead() as u32);
    leave(&directory, 2, dead.as_str());
    // The named process lives, so the sweep does not connect to the socket.
    let unsure = corpse(&directory, process::id());
    leave(&directory, 3, unsure.as_str());
    for maker in [&dead, &unsure] {
        let unfinished = directory.path().join(format!("t{}-17", &maker.as_str()[1..]));
        fs::create_dir(&unfinished).expect("mkdir");
        symlink(maker.as_str(), unfinished.join(OWNER)).expect("link");
    }
    fs::write(directory.path().join("n-1-0123456789abcdef"), "").expect("file");
    fs::write(directory.path().join("foreign"), "").expect("file");
    let again = open(directory.path()).expect("open");
    let mut left = vec![
        claim_name(1),
        claim_name(3),
        live.name.0.clone(),
        unsure.0.clone(),
        format!("t{}-17", &unsure.as_str()[1..]),
        "n-1-0123456789abcdef".to_owned(),
        "foreign".to_owned(),
    ];
    left.sort();
    assert_eq!(names(&again), left);
    assert!(live.listener.accept().expect("accept").is_none(), "the living are not disturbed");
    drop(claim);
}

#[test]
fn what_is_older_than_the_process_of_its_number_is_swept_away() {
    let (_dir, directory) = place();
    let own = process::id();
    let (old, young) = (corpse(&directory, own), corpse(&directory, own));
    let long_ago = Timestamps {
        last_access: Timespec { tv_sec: 1_000_000, tv_nsec: 0 },
        last_modification: Timespec { tv_sec: 1_000_000, tv_nsec: 0 },
    };
    utimensat(CWD, directory.socket_path(&old), &long_ago, AtFlags::SYMLINK_NOFOLLOW).expect("utimensat");
    directory.sweep().expect("swept");
    assert_eq!(names(&directory), [young.as_str()]);
}

#[test]
fn a_file_of_any_time_is_compared() {
    let last = UNIX_EPOCH + Duration::new(i64::MAX.unsigned_abs(), 999_999_999);
    assert!(is_before(UNIX_EPOCH, UNIX_EPOCH + COARSE * 2));
    assert!(!is_before(UNIX_EPOCH, UNIX_EPOCH + COARSE));
    assert!(!is_before(last, last));
}

#[test]
fn a_child_of_fork_takes_nothing_away() {
    let (_dir, directory) = place();
    let mut live = directory.listen().expect("listen");
    Arc::get_mut(&mut live).expect("not shared yet").owner += 1;
    let claim = directory.claim(7, &live).expect("claim");
    let name = live.name.clone();
    drop(claim);
    drop(live);
    assert_eq!(directory.lookup(7).expect("lookup").as_ref(), Some(&name));
    assert!(names(&directory).contains(&name.0));
}

#[test]
fn random_numbers_differ() {
    let some: std::collections::HashSet<u64> = (0..1000).map(|_| random()).collect();
    assert_eq!(some.len(), 1000);
}
