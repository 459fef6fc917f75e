//! Commands that mend something, as a user gives them to a shell.

use std::ffi::CStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use dat_registry::{Entry, Origin, Source};
use rustix::fs::{Access, access};
use rustix::process::geteuid;

use crate::shell::quoted;

/// A command that only root may give, as this user gives it.
pub fn as_root(command: impl AsRef<str>) -> String {
    for_user(geteuid().is_root(), command.as_ref())
}

fn for_user(is_root: bool, command: &str) -> String {
    if is_root { command.to_owned() } else { format!("sudo {command}") }
}

/// A command that the owner of a file may give, such as chmod.
pub fn as_owner(file: &Path, command: impl AsRef<str>) -> String {
    for_user(owns(file) || geteuid().is_root(), command.as_ref())
}

/// Whether a file is there, as far as this user can see, and belongs to him.
pub fn owns(file: &Path) -> bool {
    fs::symlink_metadata(file).is_ok_and(|metadata| metadata.uid() == geteuid().as_raw())
}

/// Whether this system has Debian's packages.
pub fn has_apt() -> bool {
    Path::new("/usr/bin/apt-get").exists()
}

/// Whether this user may make files in a directory.
pub fn may_write(directory: &Path) -> bool {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// Changes a file by a script of sed, which puts a new file in the place of the old one; so a link is followed.
fn sed(script: &str, file: &Path) -> String {
    let real = file.canonicalize();
    let file = real.as_deref().unwrap_or(file);
    let directory = file.parent().unwrap_or(Path::new("."));
    let metadata = |path: &Path| fs::metadata(if path.as_os_str().is_empty() { Path::new(".") } else { path });
    let sticky = metadata(directory).is_ok_and(|metadata| metadata.mode() & 0o1000 != 0);
    let owns = metadata(file).is_ok_and(|metadata| metadata.uid() == geteuid().as_raw());
    let may = geteuid().is_root() || may_write(directory) && (owns || !sticky);
    for_user(may, &format!("sed -i '{}' {}", script.replace('\'', "'\\''"), quoted(file)))
}

/// Turns a line of a file into a comment; none for a built-in entry.
pub fn comment_out(origin: &Origin) -> Option<String> {
    change(origin, "s/^/# /")
}

/// Takes a line out of its file, in which the others keep their numbers; none for a built-in entry.
pub fn empty(origin: &Origin) -> Option<String> {
    change(origin, "c #")
}

fn change(origin: &Origin, action: &str) -> Option<String> {
    match &origin.source {
        Source::File(file) => Some(sed(&format!("{}{action}", origin.line), file)),
        Source::BuiltIn => None,
    }
}

/// Puts an entry in the place of the line of its origin; none for a built-in entry, and for one that cannot be written
/// without quoting.
pub fn rewrite(origin: &Origin, entry: &Entry) -> Option<String> {
    change(origin, &format!("c {}", text_of(entry)?))
}

/// The line of an entry.
fn text_of(entry: &Entry) -> Option<String> {
    let word = |field: &CStr| field.to_str().ok().filter(|text| is_word(text)).map(str::to_owned);
    let inside = |field: &CStr| field.to_str().ok().filter(|text| is_inside(text)).map(|text| format!("\"{text}\""));
    let version = &entry.provider_version;
    Some(format!(
        "{} u{}.{} {} {} {} {}.{}.{} {} {}",
        word(&entry.name)?,
        entry.api.major,
        entry.api.minor,
        if entry.thread_safe { "threadsafe" } else { "nonthreadsafe" },
        if entry.default { "default" } else { "nondefault" },
        word(&entry.library)?,
        word(&version.id)?,
        version.major,
        version.minor,
        inside(&entry.instance_data)?,
        inside(&entry.platform_data)?,
    ))
}

/// Whether a text stands in a line as it is.
fn is_word(text: &str) -> bool {
    !text.is_empty() && is_inside(text) && !text.contains(|letter: char| letter.is_whitespace() || letter == '#')
}

/// Whether a text stands between double quotes as it is.
fn is_inside(text: &str) -> bool {
    !text.contains(|letter: char| letter.is_control() || "\"'\\".contains(letter))
}

/// The line of a new entry of this project's providers; none for a name that has to be quoted there.
pub fn line(name: &str, library: &str, instance: &str) -> Option<String> {
    (is_word(name) && is_inside(instance))
        .then(|| format!("{name} u1.2 threadsafe default {library} libdat.1.2 \"{instance}\" \"\""))
}

/// The line of shm.
pub const SHM: &str = "shm u1.2 threadsafe default libdaplshm.so.1 libdat.1.2 \"\" \"\"";

/// The command that adds a line to a file, whose last line may lack its end.
pub fn append(line: &str, file: &Path) -> String {
    let ends = fs::read(file).is_ok_and(|bytes| bytes.last().is_none_or(|last| *last == b'\n'));
    let print = if ends { "echo" } else { "printf '\\n%s\\n'" };
    let (line, target) = (quoted(line), quoted(file));
    if access(file, Access::WRITE_OK).is_ok() {
        format!("{print} {line} >>{target}")
    } else {
        format!("{print} {line} | {} {target}", as_root("tee -a"))
    }
}

#[cfg(test)]
pub mod tests {
    use std::process::Command;
    use std::sync::Arc;

    use dat_registry::conf::{Line, parse};

    use super::*;

    /// The entry of a line, as if it were that line of a file.
    pub fn entry(file: &Path, number: u32, line: &str) -> (Origin, Entry) {
        let Some(Line::Entry(_, entry)) = parse(line.as_bytes()).next() else { panic!("no entry: {line}") };
        (Origin { source: Source::File(Arc::new(file.to_owned())), line: number }, entry)
    }

    /// Gives a command to the shell, and says what it printed.
    pub fn run(command: &str) -> String {
        let output = Command::new("sh").args(["-c", command]).output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    #[test]
    fn an_ordinary_user_gives_commands_of_root_with_sudo() {
        assert_eq!(for_user(true, "modprobe rdma_ucm"), "modprobe rdma_ucm");
        assert_eq!(for_user(false, "modprobe rdma_ucm"), "sudo modprobe rdma_ucm");
    }

    #[test]
    fn a_line_is_added_as_a_line_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("a b.conf");
        fs::write(&file, "a line without its end").unwrap();
        run(&append(&line("verbs-$(x)", "libdaplverbs.so.1", "$(x) 0").unwrap(), &file));
        let command = append(SHM, &file);
        assert!(command.starts_with("echo 'shm u1.2 ") && command.contains(" >>"), "{command}");
        run(&command);
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            format!(
                "a line without its end\nverbs-$(x) u1.2 threadsafe default libdaplverbs.so.1 libdat.1.2 \"$(x) 0\" \
                 \"\"\n{SHM}\n"
            )
        );
    }

    #[test]
    fn a_line_is_changed_in_its_place() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("dat.conf");
        fs::write(&file, "one\na u1.2 threadsafe default l.so A.1.0 \"/tmp x\" ''\nthree\nfour\n").unwrap();
        let (origin, mut entry) = entry(&file, 2, "a u1.2 threadsafe default l.so A.1.0 \"/tmp x\" \"\"");
        entry.instance_data = c"eth0 0".to_owned();
        run(&rewrite(&origin, &entry).unwrap());
        let third = Origin { line: 3, ..origin.clone() };
        run(&comment_out(&third).unwrap());
        run(&empty(&Origin { line: 4, ..origin.clone() }).unwrap());
        let text = "one\na u1.2 threadsafe default l.so A.1.0 \"eth0 0\" \"\"\n# three\n#\n";
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert_eq!(comment_out(&Origin { source: Source::BuiltIn, line: 0 }), None);
        entry.instance_data = c"it's".to_owned();
        assert_eq!(rewrite(&origin, &entry), None);
    }

    #[test]
    fn names_that_would_be_more_than_a_word_get_no_line() {
        for name in
            ["verbs-a b", "verbs-a\"b", "verbs-a'b", "verbs-a\nb", "verbs-a\\b", "verbs-#", "verbs-\u{1b}[0m", ""]
        {
            assert_eq!(line(name, "libdaplverbs.so.1", "a 0"), None, "{name:?}");
        }
    }
}
