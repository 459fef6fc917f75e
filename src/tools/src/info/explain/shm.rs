//! What the provider shm needs: the directory in which processes find each other.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use super::configuration::quoted;
use super::step::Step;

/// The directory that the instance data of an entry mean: an absolute path, or else that of the user.
pub fn directory(instance: &str, user: u32) -> PathBuf {
    let path = Path::new(instance.trim());
    if path.is_absolute() { path.components().collect() } else { format!("/tmp/dat-shm-{user}").into() }
}

/// Looks at the directory, and at what the kernel lets processes of a user do with each other.
///
/// # Parameters
/// * `instance` - the instance data of the entry.
pub fn explain(instance: &str) -> Vec<Step> {
    let user = geteuid().as_raw();
    let mut steps = vec![rendezvous(&directory(instance, user), user)];
    steps.extend(copies(Path::new("/proc/sys/kernel/yama/ptrace_scope")));
    steps
}

/// The directory: there, of this user, and closed to others.
fn rendezvous(path: &Path, user: u32) -> Step {
    let shown = path.display();
    let mode = |metadata: &fs::Metadata| metadata.mode() & 0o7777;
    let away = || format!("mv {0} {0}.old", quoted(path));
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => match path.parent().map(fs::metadata) {
            Some(Ok(parent)) if parent.is_dir() => Step::ok(format!(
                "the rendezvous directory {shown} is not there yet: the first process makes it, with mode 700"
            )),
            _ => Step::wrong(format!("the rendezvous directory {shown} cannot be made: its parent is no directory"))
                .mend(format!("mkdir -p {}", quoted(path.parent().unwrap_or(path)))),
        },
        Err(error) => Step::wrong(format!("the rendezvous directory {shown}: {error}")),
        Ok(metadata) if metadata.is_symlink() || !metadata.is_dir() => {
            Step::wrong(format!("the rendezvous directory {shown} is no directory, or a symbolic link to one")).mend(away())
        }
        Ok(metadata) if metadata.uid() != user => Step::wrong(format!(
            "the rendezvous directory {shown} belongs to user {}, mode {:o}, and you are user {user}: only processes of one \
             user meet",
            metadata.uid(),
            mode(&metadata)
        ))
        .mend(format!("sudo {}", away())),
        Ok(metadata) if mode(&metadata) & 0o077 != 0 => Step::wrong(format!(
            "the rendezvous directory {shown} is open to other users: its mode is {:o}, and has to be 700",
            mode(&metadata)
        ))
        .mend(format!("chmod 700 {}", quoted(path))),
        Ok(metadata) => Step::ok(format!(
            "the rendezvous directory {shown} belongs to you, user {user}, with mode {:o}: processes of this user that see it \
             reach each other",
            mode(&metadata)
        )),
    }
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

    use super::super::step::State;
    use super::*;

    #[test]
    fn instance_data_name_the_directory_or_not() {
        assert_eq!(directory("/run/x/", 7), Path::new("/run/x"));
        assert_eq!(directory("", 7), Path::new("/tmp/dat-shm-7"));
        assert_eq!(directory("ib0 0", 7), Path::new("/tmp/dat-shm-7"));
    }

    #[test]
    fn what_is_wrong_with_a_directory_is_told_with_what_mends_it() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("meet");
        let user = geteuid().as_raw();
        assert_eq!(rendezvous(&path, user).state, State::Ok);
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let open = rendezvous(&path, user);
        assert_eq!(
            (open.state, open.mend[0].as_str()),
            (State::Wrong, format!("chmod 700 {}", path.display()).as_str())
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(rendezvous(&path, user).state, State::Ok);
        let foreign = rendezvous(&path, user + 1);
        assert!(foreign.text.contains(&format!("belongs to user {user}")), "{}", foreign.text);
        let link = root.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(rendezvous(&link, user).text.contains("symbolic link"));
        assert_eq!(rendezvous(&root.path().join("a/b"), user).state, State::Wrong);
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
