use std::fs;

use super::*;

const VERSION: Version = Version { major: 1, minor: 2 };
const OTHER: Version = Version { major: 2, minor: 0 };

fn places(root: &Path) -> Places {
    Places {
        override_file: None,
        files: vec![root.join("dat.conf"), root.join("rdma/dat.conf")],
        sysfs: root.join("sys"),
        proc: root.join("proc"),
        own: None,
    }
}

fn line(name: &str) -> String {
    format!("{name} u1.2 nonthreadsafe default l.so A.1.0 \"\" \"\"\n")
}

fn line_of(origin: &Origin) -> u32 {
    match origin {
        Origin::Line(_, line) => *line,
        Origin::BuiltIn => panic!("it is built in"),
    }
}

fn search(places: &Places, version: Version) -> Found {
    find(places, version, &mut |_| {})
}

fn steps(places: &Places, version: Version) -> Vec<String> {
    let folder = format!("{}/", places.files[0].parent().unwrap().display());
    let mut steps = Vec::new();
    find(places, version, &mut |step| steps.push(step.to_string().replace(&folder, "")));
    steps
}

fn names(found: &Found) -> Vec<&str> {
    found.entries.iter().map(|(_, entry)| entry.name.to_str().unwrap()).collect()
}

fn unlisted(found: &Found) -> Vec<&str> {
    found.unlisted.iter().map(|entry| entry.name.to_str().unwrap()).collect()
}

fn own(found: &Found) -> Vec<&str> {
    let of_file = found.entries.iter().filter(|(origin, _)| *origin != Origin::BuiltIn);
    of_file.map(|(_, entry)| entry.name.to_str().unwrap()).collect()
}

#[test]
fn uses_first_existing_file() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    fs::create_dir(root.path().join("rdma")).unwrap();
    assert_eq!(unlisted(&search(&places, VERSION)), ["shm", "tcp"]);
    fs::write(&places.files[1], line("second")).unwrap();
    assert_eq!(own(&search(&places, VERSION)), ["second"]);
    fs::write(&places.files[0], line("first")).unwrap();
    assert_eq!(own(&search(&places, VERSION)), ["first"]);
    fs::write(&places.files[0], "").unwrap();
    assert!(own(&search(&places, VERSION)).is_empty());
}

#[test]
fn entries_of_file_replace_or_disable_built_in_entries() {
    let root = tempfile::tempdir().unwrap();
    let mut places = places(root.path());
    // Returns the names of all entries except the built-in tcp. The names of built-in entries get a star.
    let all = |places: &Places, text: &str| {
        fs::write(&places.files[0], text).unwrap();
        let found = search(places, VERSION);
        let listed = found.entries.iter().map(|(origin, entry)| (*origin == Origin::BuiltIn, entry));
        let all = listed.chain(found.unlisted.iter().map(|entry| (true, entry)));
        let shown = all.map(|(mark, entry)| format!("{}{}", entry.name.to_str().unwrap(), if mark { "*" } else { "" }));
        shown.filter(|name| name != "tcp*").collect::<Vec<_>>()
    };
    assert_eq!(all(&places, ""), ["shm*"]);
    assert_eq!(all(&places, &line("mine")), ["mine", "shm*"]);
    assert_eq!(all(&places, &[line("shm"), line("mine")].concat()), ["shm", "mine"], "a line wins");
    assert_eq!(all(&places, &(line("mine") + "shm u1.2 no\n")), ["mine"], "a line with a mistake too");
    assert_eq!(all(&places, &(line("mine") + &line("shm").replace("u1.2", "u2.0"))), ["mine", "shm*"]);
    let off = |name| line(name).replace(" default", " nondefault");
    assert_eq!(all(&places, &(line("mine") + &off("other"))), ["mine", "shm*"]);
    assert_eq!(all(&places, &(line("mine") + &off("shm"))), ["mine"]);
    assert_eq!(all(&places, &off(ALL_BUILT_IN)), [""; 0]);
    assert_eq!(all(&places, &off(ALL_BUILT_IN).replace("u1.2", "u2.0")), ["shm*"], "it is for its version");
    assert_eq!(all(&places, &(off("shm") + &line("shm"))), ["shm"]);
    places.override_file = Some(ALL_BUILT_IN.into());
    assert_eq!(all(&places, &off(ALL_BUILT_IN)), ["shm*"]);
}

#[test]
fn lists_built_in_entries_only_on_request() {
    let root = tempfile::tempdir().unwrap();
    let mut places = places(root.path());
    fs::create_dir_all(places.proc.join("thread-self/net")).unwrap();
    fs::write(places.proc.join("thread-self/net/dev"), "Inter-|\n face |bytes\n    lo: 1 2\n  eth0:3 4\n").unwrap();
    let all = |places: &Places, text: &str| {
        fs::write(&places.files[0], text).unwrap();
        let found = search(places, VERSION);
        (names(&found).join(" "), unlisted(&found).join(" "))
    };
    let both = |listed: &str, unlisted: &str| (listed.to_owned(), unlisted.to_owned());
    let builtin = |places: &Places| Places { override_file: Some(ALL_BUILT_IN.into()), ..places.clone() };
    assert_eq!(all(&builtin(&places), ""), both("shm", "tcp tcp-lo tcp-eth0"), "without the library");
    places.own = Some(root.path().join("libdat.so.1"));
    assert_eq!(all(&builtin(&places), ""), both("shm", "tcp tcp-lo tcp-eth0"));
    fs::write(root.path().join("libdapltcp.so.1"), "").unwrap();
    assert_eq!(all(&builtin(&places), ""), both("shm tcp", "tcp-lo tcp-eth0"));
    assert_eq!(all(&places, ""), both("", "shm tcp tcp-lo tcp-eth0"));
    assert_eq!(all(&places, &line("tcp-lo")), both("tcp-lo", "shm tcp tcp-eth0"), "a line wins");
    assert_eq!(all(&places, "tcp-lo u1.2 no\n"), both("", "shm tcp tcp-eth0"), "a line with a mistake too");
    let off = |name| line(name).replace(" default", " nondefault");
    assert_eq!(all(&places, &off("tcp")), both("", "shm tcp-lo tcp-eth0"));
    assert_eq!(all(&places, &off("tcp-eth0")), both("", "shm tcp tcp-lo"));
    assert_eq!(all(&places, &off(ALL_BUILT_IN)), both("", ""));
    let port = places.sysfs.join("class/infiniband/rxe0/ports/1/gid_attrs/ndevs");
    fs::create_dir_all(&port).unwrap();
    fs::write(port.join("0"), "eth0").unwrap();
    let others = "tcp tcp-lo tcp-eth0";
    assert_eq!(all(&places, ""), both("verbs-eth0", &format!("shm {others}")), "an RDMA device");
    assert_eq!(all(&places, "a u1.2 no\n"), both("verbs-eth0", &format!("shm {others}")), "no entry");
    assert_eq!(all(&places, &off("a")), both("verbs-eth0", &format!("shm {others}")), "a nondefault line");
    assert_eq!(all(&places, &line("mine")), both("mine", &format!("shm verbs-eth0 {others}")));
    let old = line("mine").replace("u1.2", "u1.1");
    assert_eq!(all(&places, &old), both("mine verbs-eth0", &format!("shm {others}")), "no entry for 1.2");
    assert_eq!(all(&places, &off("verbs-eth0")), both("", &format!("shm {others}")));
    assert_eq!(all(&builtin(&places), ""), both("shm verbs-eth0 tcp", "tcp-lo tcp-eth0"));
    places.override_file = Some(places.files[0].clone());
    assert_eq!(all(&places, &line("mine")), both("mine", ""), "the override file is used as it is");
}

#[test]
fn skips_file_with_only_comments() {
    let root = tempfile::tempdir().unwrap();
    let mut places = places(root.path());
    fs::create_dir(root.path().join("rdma")).unwrap();
    let comments = "# adapters\n\n#a u1.2 nonthreadsafe default l.so A.1.0 \"\" \"\"\n";
    fs::write(&places.files[0], comments).unwrap();
    assert_eq!(unlisted(&search(&places, VERSION)), ["shm", "tcp"]);
    fs::write(&places.files[1], line("second")).unwrap();
    assert_eq!(own(&search(&places, VERSION)), ["second"]);
    // A line counts even if it is nondefault or bad.
    fs::write(&places.files[0], format!("{comments}{}", line("off").replace(" default", " nondefault"))).unwrap();
    assert!(own(&search(&places, VERSION)).is_empty());
    fs::write(&places.files[0], format!("{comments}wrong\n")).unwrap();
    assert!(own(&search(&places, VERSION)).is_empty());
    // The override file is not skipped.
    fs::write(&places.files[0], comments).unwrap();
    places.override_file = Some(places.files[0].clone());
    assert!(names(&search(&places, VERSION)).is_empty());
}

#[test]
fn skips_file_for_another_version() {
    let root = tempfile::tempdir().unwrap();
    let mut places = places(root.path());
    let foreign = "ofa-v2-ib0 u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 \"ib0 0\" \"\"\n";
    fs::write(&places.files[0], foreign).unwrap();
    let found = search(&places, VERSION);
    assert_eq!(unlisted(&found), ["shm", "tcp"]);
    assert_eq!(found.other_versions.len(), 1);
    fs::write(&places.files[0], format!("{foreign}{}", line("mine"))).unwrap();
    assert_eq!(own(&search(&places, VERSION)), ["mine"]);
    assert_eq!(own(&search(&places, OTHER)), ["ofa-v2-ib0"]);
    fs::write(&places.files[0], line("mine")).unwrap();
    assert_eq!(unlisted(&search(&places, OTHER)), ["shm", "tcp"]);
    // The override file is not skipped.
    fs::write(&places.files[0], foreign).unwrap();
    places.override_file = Some(places.files[0].clone());
    assert!(names(&search(&places, VERSION)).is_empty());
}

#[test]
fn reports_each_step() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    let missing = "No such file or directory (os error 2)";
    assert_eq!(
        steps(&places, VERSION),
        [
            "dat.conf: does not exist",
            "rdma/dat.conf: does not exist",
            "no file is used: the built-in entries are the configuration",
            &format!("built-in entries are missing: sys/class/infiniband: {missing}"),
            &format!("built-in entries are missing: proc/thread-self/net/dev: {missing}"),
            "built-in entry: shm by libdaplshm.so.1, not listed",
        ]
    );
    fs::create_dir(root.path().join("rdma")).unwrap();
    fs::write(&places.files[0], "c u2.0 threadsafe default l.so A.2.0 \"\" \"\"\n").unwrap();
    let text = format!(
        "{}k k1.2 nonthreadsafe default l.so A.1.0 \"\" \"\"\nn u1.2 nonthreadsafe nondefault l.so A.1.0 \"\" \"\"\n{}b u1.2 no\n",
        line("a"),
        line("a")
    );
    fs::write(&places.files[1], text).unwrap();
    assert_eq!(
        steps(&places, VERSION),
        [
            "dat.conf: is read",
            "dat.conf:1: c is not used: it is for version 2.0",
            "dat.conf: is not used: it has no line for this version",
            "rdma/dat.conf: is read",
            "rdma/dat.conf:1: a by l.so",
            "rdma/dat.conf:2: k is not used: it is for the kernel's programs",
            "rdma/dat.conf:3: n is not used: it is nondefault",
            "rdma/dat.conf:4: a is not used: a line before it has the same name, version and thread safety",
            "rdma/dat.conf:5: line ignored: field 3 is neither threadsafe nor nonthreadsafe",
            "rdma/dat.conf: is the configuration",
            &format!("built-in entries are missing: sys/class/infiniband: {missing}"),
            &format!("built-in entries are missing: proc/thread-self/net/dev: {missing}"),
            "built-in entry: shm by libdaplshm.so.1, not listed",
        ]
    );
}

#[test]
fn override_replaces_all_files() {
    let root = tempfile::tempdir().unwrap();
    let mut places = places(root.path());
    fs::write(&places.files[0], line("first")).unwrap();
    let mine = root.path().join("mine.conf");
    fs::write(&mine, line("mine")).unwrap();
    places.override_file = Some(mine.clone());
    assert_eq!(names(&search(&places, VERSION)), ["mine"]);
    fs::remove_file(&mine).unwrap();
    let found = search(&places, VERSION);
    assert!(names(&found).is_empty());
    assert_eq!(found.failure.unwrap().0, mine);
}

#[test]
fn unreadable_file_ends_search() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    fs::create_dir(&places.files[0]).unwrap();
    let found = search(&places, VERSION);
    assert!(names(&found).is_empty());
    assert!(found.failure.is_some());
}

#[test]
fn reads_sample_file() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    let text = concat!(
        "# whole-line comment\n",
        "ibd0 u1.2 nonthreadsafe default libprov.so.1 ACME.1.0 \"i\" \"\" # trailing\n",
        "ibd0 u1.2 threadsafe default libprov.so.1 ACME.1.0 \" \" \"\"\n",
        "ibd1 u1.2 nonthreadsafe nondefault libprov.so.1 ACME.1.0 \"\" \"\"\n",
        "ibd2 u1.x nonthreadsafe default libprov.so.1 ACME.1.0 \"\" \"\"\n",
        "ibd0 u1.2 nonthreadsafe default libother.so.1 ACME.1.0 \"\" \"\"\n",
        "ibd3 k1.2 nonthreadsafe default libprov.so.1 ACME.1.0 \"\" \"\"\n",
        "ibd4 u2.0 nonthreadsafe default libprov.so.2 ACME.1.0 \"\" \"\"\n",
        "ibd5 u2.0 maybe\n",
    );
    fs::write(&places.files[0], text).unwrap();
    let found = search(&places, VERSION);
    assert_eq!(own(&found), ["ibd0", "ibd0"]);
    assert!(!found.entries[0].1.thread_safe && found.entries[1].1.thread_safe);
    assert_eq!(found.entries[0].1.library.as_c_str(), c"libprov.so.1");
    assert_eq!(found.bad.len(), 1);
    let shown = found.bad[0].0.to_string();
    assert!(shown.ends_with("dat.conf:5"), "{shown}");
    assert_eq!(found.other_versions.len(), 1);
}

#[test]
fn one_file_serves_two_versions() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    let text = concat!(
        "OpenIB-cma u1.2 nonthreadsafe default libdaplcma.so.1 dapl.1.2 \"ib0 0\" \"\"\n",
        "ofa-v2-mlx4_0-1 u2.0 nonthreadsafe default libdaploscm.so.2 dapl.2.0 \"mlx4_0 1\" \"\"\n",
        "OpenIB-cma u1.2 nonthreadsafe default libagain.so.1 dapl.1.2 \"ib0 0\" \"\"\n",
        "ofa-v2-mlx4_0-1u u2.0 nonthreadsafe default libdaploucm.so.2 dapl.2.0 \"mlx4_0 1\" \"\"\n",
        "shm u1.2 threadsafe default libdaplshm.so.1 libdat.1.2 \"\" \"\"\n",
        "shm u2.0 threadsafe default libdaplshm.so.2 libdat.2.0 \"\" \"\"\n",
        "kernel k2.0 threadsafe default libdaplshm.so.2 libdat.2.0 \"\" \"\"\n",
    );
    fs::write(&places.files[0], text).unwrap();
    let first = search(&places, VERSION);
    assert_eq!(names(&first), ["OpenIB-cma", "shm"]);
    assert!(first.bad.is_empty() && first.listed_only.is_empty());
    let second = search(&places, OTHER);
    assert_eq!(names(&second), ["ofa-v2-mlx4_0-1", "ofa-v2-mlx4_0-1u", "shm"]);
    assert_eq!(second.entries[2].1.library.as_c_str(), c"libdaplshm.so.2");
    assert!(second.bad.is_empty());
    let others: Vec<_> = second.listed_only.iter().map(|id| id.name.to_str().unwrap()).collect();
    assert_eq!(others, ["OpenIB-cma", "shm"]);
}

#[test]
fn reads_file_of_a_distribution() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    let mut text = "# DAT v2.0\n#\n# <ia_name> <api_version> <threadsafety> <default> <lib_path> \\\n# \n".to_owned();
    let mut count = 0;
    let mut entry = |name: &str, library: &str, data: &str| {
        count += 1;
        let rest = format!("u2.0 nonthreadsafe default {library} dapl.2.0 \"{data}\" \"\"");
        text.push_str(&format!("{name} {rest}\n"));
    };
    for netdev in ["ib0", "ib1"] {
        entry(&format!("ofa-v2-{netdev}"), "libdaplofa.so.2", &format!("{netdev} 0"));
    }
    entry("ofa-v2-cma-roe-eth2", "libdaplofa.so.2", "eth2 0");
    for device in ["mlx4_0", "mlx5_1", "mthca0", "qib1", "hfi1_0"] {
        for port in 1..=2 {
            let data = format!("{device} {port}");
            for (suffix, library) in [("", "oscm"), ("s", "oscm"), ("u", "oucm"), ("m", "omcm")] {
                entry(&format!("ofa-v2-{device}-{port}{suffix}"), &format!("libdapl{library}.so.2"), &data);
            }
        }
    }
    entry("ofa-v2-scif0-u", "libdaploucm.so.2", "scif0 1");
    fs::write(&places.files[0], &text).unwrap();
    let found = search(&places, OTHER);
    assert_eq!((own(&found).len(), found.bad.len()), (count, 0));
    assert_eq!(found.entries[0].1.instance_data.as_c_str(), c"ib0 0");
    assert!(names(&search(&places, VERSION)).is_empty(), "it is not meant for this version");
}

#[test]
fn later_version_has_stand_ins() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    let entry = |name, library| format!("{name} u2.0 nonthreadsafe default {library} A.2.0 \"\" \"\"\n");
    let text = [entry("a", "one"), entry("b", "l"), entry("a", "two"), entry("a", "three")].concat();
    fs::write(&places.files[0], &text).unwrap();
    let found = search(&places, OTHER);
    assert_eq!(own(&found), ["a", "b"]);
    let stand_ins = found.stand_ins.iter().map(|(at, origin, entry)| (*at, line_of(origin), entry.library.as_c_str()));
    assert_eq!(stand_ins.collect::<Vec<_>>(), [(0, 3, c"two"), (0, 4, c"three")]);
    let told_last = "dat.conf:4: a by three, if the library of the line of this name before it cannot be loaded";
    assert!(steps(&places, OTHER).iter().any(|step| step == told_last));
    fs::write(&places.files[0], text.replace("u2.0", "u1.2")).unwrap();
    assert!(search(&places, VERSION).stand_ins.is_empty());
}

#[test]
fn unused_entry_hides_no_other() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    let text = format!(
        "a u1.2 nonthreadsafe nondefault one A.1.0 \"\" \"\"\n\
             a k1.2 nonthreadsafe default two A.1.0 \"\" \"\"\n{}",
        line("a")
    );
    fs::write(&places.files[0], text).unwrap();
    let found = search(&places, VERSION);
    assert_eq!(found.entries[0].1.library.as_c_str(), c"l.so");
    assert_eq!(line_of(&found.entries[0].0), 3);
}

#[test]
fn ignores_lines_beyond_the_limit() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    let mut text: String = (0..LINES_MAX - 2).map(|n| line(&format!("n{n}"))).collect();
    text.push_str("# a comment\n\nbad u1.2\n");
    text.push_str(&line("last"));
    fs::write(&places.files[0], &text).unwrap();
    let found = search(&places, VERSION);
    assert_eq!((own(&found).len(), found.bad.len()), (LINES_MAX - 1, 1));
    assert!(found.excess.is_none());
    assert_eq!(own(&found).last(), Some(&"last"));
    text.push_str(&line("beyond"));
    text.push_str(&line("far_beyond"));
    fs::write(&places.files[0], &text).unwrap();
    let found = search(&places, VERSION);
    assert_eq!(own(&found).len(), LINES_MAX - 1);
    let (origin, excess) = found.excess.unwrap();
    assert_eq!((line_of(&origin) as usize, excess.as_str()), (LINES_MAX + 3, "the file has more than 65536 entries"));
}

#[test]
fn reads_many_versions_of_one_name() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    let version = |n| format!("a u1.{n} nonthreadsafe default l.so A.1.0 \"\" \"\"\n");
    let text: String = (0..30_000).chain(0..30_000).map(version).collect();
    fs::write(&places.files[0], text).unwrap();
    assert_eq!(own(&search(&places, VERSION)).len(), 30_000);
}

#[test]
fn rejects_long_line() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    let long = |bytes: usize| format!("# {}\n", "x".repeat(bytes - 2));
    let text = [line("a"), long(conf::LINE_MAX), long(conf::LINE_MAX + 1), line("b")].concat();
    fs::write(&places.files[0], text).unwrap();
    let found = search(&places, VERSION);
    assert_eq!(own(&found), ["a", "b"]);
    assert_eq!(found.bad.len(), 1);
    assert_eq!((line_of(&found.bad[0].0), found.bad[0].1.fault), (3, conf::Fault::LongLine));
}

#[test]
fn reads_installed_example() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    let example = include_str!("../../../../../dat.conf.example");
    fs::write(&places.files[0], example).unwrap();
    for version in [VERSION, OTHER] {
        let found = search(&places, version);
        assert_eq!(names(&found), ["shm"]);
        assert!(found.bad.is_empty());
    }

    let all: Vec<&str> = example
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(entry) if entry.starts_with(char::is_alphabetic) => entry,
            _ => line,
        })
        .collect();
    fs::write(&places.files[0], all.join("\n")).unwrap();
    let found = search(&places, VERSION);
    let expected = ["shm", "verbs-eth0", "verbs-ib0", "tcp", "tcp-eth0", "OpenIB-cma", "OpenIB-mlx4_0-1"];
    assert_eq!(names(&found), expected);
    assert!(found.bad.is_empty());
    let found = search(&places, OTHER);
    let expected =
        ["shm", "verbs-eth0", "verbs-ib0", "tcp", "tcp-eth0", "ofa-v2-ib0", "ofa-v2-mlx4_0-1", "ofa-v2-mlx4_0-1u"];
    assert_eq!(names(&found), expected);
    assert!(found.bad.is_empty());
}
