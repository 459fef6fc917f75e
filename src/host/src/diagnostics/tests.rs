use super::*;

fn wish(masks: [Option<&str>; 2], words: [Option<&str>; 2]) -> Wish {
    Wish::of(Role::Registry, masks.map(|v| v.map(OsStr::new)), words.map(|v| v.map(OsStr::new)))
}

fn level(masks: [Option<&str>; 2], words: Option<&str>) -> (LevelFilter, bool) {
    let wish = wish(masks, [None, words]);
    (wish.level(), wish.hushed)
}

#[test]
fn nothing_set_is_silence_but_no_hush() {
    assert_eq!(level([None, None], None), (LevelFilter::Off, false));
    assert_eq!(level([Some(""), Some("x")], None), (LevelFilter::Off, false));
}

#[test]
fn zero_and_off_hush() {
    assert_eq!(level([Some("0"), None], None), (LevelFilter::Off, true));
    assert_eq!(level([None, Some("0x0")], None), (LevelFilter::Off, true));
    assert_eq!(level([None, None], Some("off")), (LevelFilter::Off, true));
    assert_eq!(level([Some("0"), None], Some("off")), (LevelFilter::Off, true));
}

#[test]
fn each_gets_what_it_asks_for() {
    assert_eq!(level([Some("0"), Some("1")], None), (LevelFilter::Error, false));
    assert_eq!(level([Some("0"), None], Some("warn")), (LevelFilter::Warn, false));
    assert_eq!(level([Some("3"), None], Some("error")), (LevelFilter::Warn, false));
    let both = wish([Some("4"), None], [Some("warn"), None]);
    let admits = |level, target| both.admits(&Metadata::builder().level(level).target(target).build());
    assert!(admits(Level::Debug, "dat_library::provider"));
    assert!(!admits(Level::Debug, REGISTERED));
    assert!(admits(Level::Warn, REGISTERED));
}

#[test]
fn words_for_others_are_passed_over() {
    assert_eq!(level([None, None], Some("hyper=trace")).0, LevelFilter::Off);
    assert_eq!(level([None, None], Some("warn,hyper=trace")).0, LevelFilter::Warn);
    assert_eq!(level([None, None], Some("warn,dat_core=trace")).0, LevelFilter::Trace);
    assert_eq!(level([None, None], Some("DEBUG")).0, LevelFilter::Debug);
}

#[test]
fn one_variable_has_levels_and_the_time() {
    let of = |words| {
        let wish = wish([None, None], words);
        (wish.level(), wish.hushed, wish.time)
    };
    assert_eq!(of([Some("debug"), None]), (LevelFilter::Debug, false, false));
    assert_eq!(of([Some("debug,time"), None]), (LevelFilter::Debug, false, true));
    assert_eq!(of([Some("time, warn"), Some("error")]), (LevelFilter::Warn, false, true));
    assert_eq!(of([Some("time"), Some("info")]), (LevelFilter::Info, false, true));
    assert_eq!(of([Some("off"), None]), (LevelFilter::Off, true, false));
    assert_eq!(of([Some("off"), Some("trace")]), (LevelFilter::Trace, false, false));
    assert_eq!(of([None, Some("debug,time")]), (LevelFilter::Debug, false, false));
}

#[test]
fn the_time_is_that_of_the_day() {
    assert_eq!(clock(Duration::ZERO), "00:00:00.000000Z ");
    assert_eq!(clock(Duration::from_micros(86_400_000_000 + 45_296_000_789)), "12:34:56.000789Z ");
}

#[test]
fn a_closure_has_the_name_of_its_function() {
    fn dat_generic<T: Default>() -> String {
        Function::of(&|| T::default()).to_string()
    }
    assert_eq!(dat_generic::<u8>(), "dat_generic");
    let nested = || Function::of(&|| ()).to_string();
    assert_eq!(nested(), "a_closure_has_the_name_of_its_function");
}

#[test]
fn masks_name_destinations() {
    let of = |masks: [Option<&str>; 2]| destinations(masks.map(|v| v.map(OsStr::new))) & (STANDARD_OUTPUT | SYSTEM);
    assert_eq!(of([None, None]), 0);
    assert_eq!(of([Some("0"), Some("4")]), 0);
    assert_eq!(of([Some("1"), None]), STANDARD_OUTPUT);
    assert_eq!(of([Some("0x1"), Some("2")]), STANDARD_OUTPUT | SYSTEM);
    assert_eq!(of([Some("nowhere"), Some("3")]), STANDARD_OUTPUT | SYSTEM);
}

#[test]
fn the_system_gets_the_priority() {
    assert_eq!(packet(Level::Warn, "libdat[4711]: warning: a: b"), "<12>libdat[4711]: warning: a: b");
    assert_eq!(packet(Level::Error, "text"), "<11>text");
}

#[test]
fn a_message_is_one_line() {
    let mut line = Line(String::new());
    write!(line, "a\nb\x1b[1m{}", "x".repeat(5000)).unwrap();
    assert!(line.0.starts_with("a\\nb\\u{1b}[1mxx"));
    assert_eq!(line.0.len(), LINE_MAX);
}
