//! What the provider shm needs: the directory in which processes find each other.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use dat_registry::{Entry, Origin};
use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::shell::{as_owner, as_root, may_write, rewrite};
use super::step::Step;
use crate::info::words;
use crate::shell::quoted;

/// The directory, and what says that it is this one.
struct Place<'a> {
    path: PathBuf,
    /// The entry that names it; none for the directory that each user has unless an entry names another one.
    named: Option<&'a (Origin, Entry)>,
    user: u32,
}

/// Looks at the directory, and at what the kernel lets processes of a user do with each other.
///
/// # Parameters
/// * `entry` - the entry of the adapter.
pub fn explain(entry: &(Origin, Entry)) -> Vec<Step> {
    let mut steps = vec![rendezvous(entry, geteuid().as_raw())];
    steps.extend(processes(Path::new("/proc")));
    steps.extend(copies(Path::new("/proc/sys/kernel/yama/ptrace_scope")));
    steps
}

/// The directory that the instance data of an entry mean: an absolute path, or nothing for that of the user.
fn rendezvous(entry: &(Origin, Entry), user: u32) -> Step {
    let instance = words(&entry.1.instance_data);
    let path = Path::new(instance.trim());
    if path.as_os_str().is_empty() {
        return Place { path: format!("/tmp/dat-shm-{user}").into(), named: None, user }.step();
    }
    let place = Place { path: path.components().collect(), named: Some(entry), user };
    if path.is_absolute() {
        return place.step();
    }
    place
        .other(Step::wrong(format!("its instance data, {instance:?}, are no absolute path, so they name no directory")))
}

impl Place<'_> {
    /// The directory: there, of this user, and closed to others.
    fn step(&self) -> Step {
        match fs::symlink_metadata(&self.path) {
            Ok(metadata) => self.present(&metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.absent(),
            Err(error) => self.other(Step::wrong(format!("{} cannot be reached: {error}", self.shown()))),
        }
    }

    fn shown(&self) -> String {
        format!("the rendezvous directory {}", self.path.display())
    }

    fn present(&self, metadata: &Metadata) -> Step {
        let mode = metadata.mode() & 0o7777;
        if metadata.is_symlink() || !metadata.is_dir() {
            return self
                .in_the_way(Step::wrong(format!("{} is no directory, or a symbolic link to one", self.shown())));
        }
        if metadata.uid() != self.user {
            return self.in_the_way(Step::wrong(format!(
                "{} belongs to user {}, mode {mode:o}, and you are user {}: only processes of one user meet",
                self.shown(),
                metadata.uid(),
                self.user
            )));
        }
        if mode & 0o077 != 0 {
            let step = Step::wrong(format!(
                "{} is open to other users: its mode is {mode:o}, and has to be 700",
                self.shown()
            ));
            return if self.named.is_none() || is_only_for_shm(&self.path, mode) {
                step.mend(format!("chmod 700 {}", quoted(&self.path)))
            } else {
                self.other(step.more("it holds other things than those of shm, so its mode is not for shm to change"))
            };
        }
        if access(&self.path, Access::WRITE_OK) == Err(Errno::ROFS) {
            return self.unwritable(&self.path, Step::wrong(format!("{} is on a read-only file system", self.shown())));
        }
        Step::ok(format!(
            "{} belongs to you, user {}, with mode {mode:o}: processes of this user that see it reach each other",
            self.shown(),
            self.user
        ))
    }

    /// The first process makes the directory, but none above it.
    fn absent(&self) -> Step {
        let parent = self.path.parent().unwrap_or(&self.path);
        let lacks = |why: &str| Step::wrong(format!("{} cannot be made: {} {why}", self.shown(), parent.display()));
        match fs::metadata(parent) {
            Ok(metadata) if !metadata.is_dir() => self.other(lacks("is no directory")),
            Ok(_) => match access(parent, Access::WRITE_OK | Access::EXEC_OK) {
                Ok(()) => {
                    Step::ok(format!("{} is not there yet: the first process makes it, with mode 700", self.shown()))
                }
                Err(Errno::ROFS) => self.unwritable(parent, lacks("is on a read-only file system")),
                Err(error) => {
                    let step = lacks(&format!("may not be written to by you: {}", io::Error::from(error)));
                    self.unwritable(parent, step)
                }
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let step = lacks("does not exist");
                let above = parent.ancestors().find(|above| above.exists());
                match above {
                    _ if self.named.is_none() => step.mend(as_root(format!("mkdir -m 1777 {}", quoted(parent)))),
                    Some(above) if may_write(above) => step.mend(format!("mkdir -p {}", quoted(parent))),
                    _ => self.other(step),
                }
            }
            Err(error) => self.other(lacks(&format!("cannot be looked at: {error}"))),
        }
    }

    /// Something else has the name. Under that which belongs to shm alone it goes away; what an entry names by mistake
    /// stays as it is.
    fn in_the_way(&self, step: Step) -> Step {
        match self.named {
            Some(_) => self.other(step),
            None => step.mend(as_owner(&self.path, format!("mv -nT {0} {0}.old", quoted(&self.path)))),
        }
    }

    /// A directory in which this user can make nothing.
    fn unwritable(&self, directory: &Path, step: Step) -> Step {
        match self.named {
            Some(_) => self.other(step),
            None if access(directory, Access::WRITE_OK) == Err(Errno::ROFS) => {
                step.mend(as_root("mount -t tmpfs tmpfs /tmp"))
            }
            None => step.mend(as_root(format!("chmod 1777 {}", quoted(directory)))),
        }
    }

    /// Has the entry mean another directory.
    fn other(&self, step: Step) -> Step {
        let Some((origin, entry)) = self.named else { return step };
        let step = step.more(format!(
            "{origin}: its instance data name the directory: use \"\" for /tmp/dat-shm-UID, by which each user has one, or \
             name one of your own"
        ));
        let changed = Entry { instance_data: c"".to_owned(), ..entry.clone() };
        step.mends(rewrite(origin, &changed))
    }
}

/// Whether a directory can be closed to others without harm: it holds nothing but what shm makes there.
fn is_only_for_shm(path: &Path, mode: u32) -> bool {
    let is_of_shm = |name: &str| {
        let rest = ["p-", "q-", "t-", "n-"].iter().find_map(|start| name.strip_prefix(start));
        rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-'))
    };
    let sticky = mode & 0o1000 != 0;
    !sticky
        && path.parent().is_some()
        && fs::read_dir(path).is_ok_and(|mut entries| {
            entries.all(|entry| entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(is_of_shm)))
        })
}

/// The file system by which a process reaches its own files and those of its peers.
fn processes(proc: &Path) -> Option<Step> {
    (!proc.join("self/fd").exists()).then(|| {
        Step::wrong(format!("{} is no file system of processes, which shm needs", proc.display()))
            .mend(as_root("mount -t proc proc /proc"))
    })
}

/// Whether a process may read the memory of another one of its user, by which long transfers are fastest.
fn copies(scope: &Path) -> Option<Step> {
    let scope = fs::read_to_string(scope).ok()?;
    (scope.trim() == "3").then(|| {
        Step::note(
            "kernel.yama.ptrace_scope is 3: no process reads the memory of another, so long transfers go through shared \
             memory, which is slower",
        )
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::super::shell::tests::{entry, run};
    use super::super::step::State;
    use super::*;

    /// The step for a line that names a directory, in a file of its own.
    fn step(root: &Path, directory: &Path, user: u32) -> Step {
        let line = format!("shm u1.2 threadsafe default libdaplshm.so.1 libdat.1.2 \"{}\" \"\"", directory.display());
        let file = root.join("dat.conf");
        fs::write(&file, format!("# a comment\n{line}\n")).unwrap();
        rendezvous(&entry(&file, 2, &line), user)
    }

    /// The mend makes the line mean the directory of each user.
    fn mends_the_line(root: &Path, step: &Step) {
        assert_eq!((step.state, step.mend.len()), (State::Wrong, 1), "{step:?}");
        assert!(step.text.contains("dat.conf:2: ") && step.text.contains("use \"\""), "{}", step.text);
        run(&step.mend[0]);
        let text = fs::read_to_string(root.join("dat.conf")).unwrap();
        assert_eq!(text, format!("# a comment\n{}\n", super::super::shell::SHM));
    }

    #[test]
    fn instance_data_name_the_directory_or_not() {
        let root = tempfile::tempdir().unwrap();
        assert!(step(root.path(), Path::new(""), 4_000_000_000).text.contains("/tmp/dat-shm-4000000000 is not there"));
        mends_the_line(root.path(), &step(root.path(), Path::new("ib0 0"), 7));
    }

    #[test]
    fn a_directory_that_is_open_to_others_is_closed_if_it_is_for_shm_alone() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("meet");
        let user = geteuid().as_raw();
        assert_eq!(step(root.path(), &path, user).state, State::Ok);
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let command = format!("chmod 700 {}", path.display());
        assert_eq!(step(root.path(), &path, user).mend, [command.as_str()]);
        fs::create_dir(path.join("q-0000000000000401")).unwrap();
        fs::write(path.join("p-12-0123456789abcdef"), "").unwrap();
        assert_eq!(step(root.path(), &path, user).mend, [command.as_str()]);
        fs::write(path.join("mail"), "").unwrap();
        mends_the_line(root.path(), &step(root.path(), &path, user));
        fs::remove_file(path.join("mail")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o1777)).unwrap();
        mends_the_line(root.path(), &step(root.path(), &path, user));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(step(root.path(), &path, user).state, State::Ok);
    }

    #[test]
    fn the_root_directory_and_tmp_are_never_changed() {
        let root = tempfile::tempdir().unwrap();
        for path in ["/", "/tmp"] {
            let owner = fs::metadata(path).unwrap().uid();
            mends_the_line(root.path(), &step(root.path(), Path::new(path), owner));
        }
    }

    #[test]
    fn what_is_another_user_s_stays_where_a_line_names_it() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("meet");
        let user = geteuid().as_raw();
        fs::create_dir(&path).unwrap();
        let foreign = step(root.path(), &path, user + 1);
        assert!(foreign.text.contains(&format!("belongs to user {user}")), "{}", foreign.text);
        mends_the_line(root.path(), &foreign);
        let link = root.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let linked = step(root.path(), &link, user);
        assert!(linked.text.contains("symbolic link"), "{}", linked.text);
        mends_the_line(root.path(), &linked);
    }

    #[test]
    fn what_has_the_name_of_the_user_s_own_directory_goes_away() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("dat-shm-7");
        fs::write(&path, "").unwrap();
        let step = Place { path: path.clone(), named: None, user: 7 }.step();
        assert_eq!(step.mend, [format!("mv -nT {0} {0}.old", path.display())]);
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_wrong_with_a_mend() {
        let root = tempfile::tempdir().unwrap();
        let user = geteuid().as_raw();
        let below = root.path().join("a b/c/d");
        let absent = step(root.path(), &below, user);
        assert_eq!(absent.state, State::Wrong);
        run(&absent.mend[0]);
        assert_eq!(step(root.path(), &below, user).state, State::Ok);
        fs::write(root.path().join("file"), "").unwrap();
        mends_the_line(root.path(), &step(root.path(), &root.path().join("file/d"), user));
        let own = Place { path: root.path().join("none/dat-shm-7"), named: None, user };
        assert!(own.step().mend[0].contains("mkdir -m 1777 "), "{:?}", own.step());
    }

    #[test]
    fn a_host_without_processes_is_wrong() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(processes(root.path()).unwrap().mend, [as_root("mount -t proc proc /proc")]);
        assert_eq!(processes(Path::new("/proc")), None);
    }

    #[test]
    fn a_kernel_that_forbids_copies_is_noted() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "1\n").unwrap();
        assert!(copies(file.path()).is_none());
        fs::write(file.path(), "3\n").unwrap();
        assert_eq!(copies(file.path()).unwrap().state, State::Note);
    }
}
