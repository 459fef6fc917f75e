use std::fs;
use std::os::unix::net::UnixListener;
use std::process::Command;

use super::*;

#[test]
fn reads_whole_file() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("dat.conf");
    for text in ["", "a\nb\n", "a\nb"] {
        fs::write(&path, text).unwrap();
        assert_eq!(read(&path).unwrap(), Text { bytes: text.into(), cut: false });
    }
}

#[test]
fn cuts_after_last_whole_line() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("dat.conf");
    fs::write(&path, "12\n456\n8").unwrap();
    let within = |limit| read_within(&path, limit).map(|text| (String::from_utf8(text.bytes).unwrap(), text.cut));
    assert_eq!(within(8).unwrap(), ("12\n456\n8".to_owned(), false));
    assert_eq!(within(7).unwrap(), ("12\n456\n".to_owned(), true));
    assert_eq!(within(6).unwrap(), ("12\n".to_owned(), true));
    assert_eq!(within(2).unwrap(), (String::new(), true));
}

#[test]
fn cuts_sparse_file_of_a_terabyte() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("dat.conf");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(read(&path).unwrap(), Text { bytes: Vec::new(), cut: true });
}

#[test]
fn rejects_irregular_files() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    assert!(Command::new("mkfifo").arg(at("fifo")).status().unwrap().success());
    let _socket = UnixListener::bind(at("socket")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", at("link")).unwrap();
    let cases = [
        (at("fifo"), "FIFO"),
        (at("socket"), "socket"),
        (root.path().to_owned(), "directory"),
        (at("link"), "device"),
        ("/dev/tty".into(), "device"),
    ];
    for (path, what) in cases {
        let error = read(&path).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{}: {error}", path.display());
        assert!(error.to_string().contains(what), "{error}");
    }
    assert_eq!(read(&at("missing")).unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn reads_kernel_file_of_size_zero() {
    let text = read(Path::new("/proc/self/maps")).unwrap();
    assert!(!text.bytes.is_empty() && !text.cut);
}
