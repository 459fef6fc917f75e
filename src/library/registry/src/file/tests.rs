use std::fs;
use std::os::unix::net::UnixListener;
use std::process::Command;

use super::*;

#[test]
fn a_file_is_read_to_its_end() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("dat.conf");
    for text in ["", "a\nb\n", "a\nb"] {
        fs::write(&path, text).unwrap();
        assert_eq!(read(&path).unwrap(), Text { bytes: text.into(), cut: false });
    }
}

#[test]
fn beyond_the_limit_whole_lines_count() {
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
fn a_sparse_file_of_a_terabyte_is_cut() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("dat.conf");
    File::create(&path).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(read(&path).unwrap(), Text { bytes: Vec::new(), cut: true });
}

#[test]
fn what_is_no_regular_file_is_refused_at_once() {
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
fn a_file_of_the_kernel_without_a_length_is_read() {
    let text = read(Path::new("/proc/self/maps")).unwrap();
    assert!(!text.bytes.is_empty() && !text.cut);
}
