use super::*;
use proptest::prelude::*;

fn parse(instance: &str) -> Instance {
    Instance::parse("", instance).unwrap()
}

#[test]
fn parses_port() {
    assert_eq!(parse("ib0 0"), Instance { word: "ib0".to_owned(), port: None });
    assert_eq!(parse(" mlx4_0\t2 "), Instance { word: "mlx4_0".to_owned(), port: Some(2) });
    assert_eq!(parse("ib0").port, None);
    for (bad, word) in [("v0 banana", "banana"), ("v0 300", "300"), ("v0 -1", "-1"), ("v0 +1", "+1"), ("v0 0 x", "x")] {
        let result = Instance::parse("verbs-v0", bad).unwrap_err();
        assert!(result.contains(bad) && result.contains(word), "{result}");
    }
}

#[test]
fn empty_data_takes_interface_from_name() {
    assert_eq!(Instance::parse("verbs-v0", "").unwrap().word, "v0");
    assert_eq!(Instance::parse("verbs-v0", "v1 0").unwrap().word, "v1");
    assert!(Instance::parse("verbs-", " ").is_err());
    assert!(Instance::parse("OpenIB-cma", "").unwrap_err().contains("missing"));
}

proptest! {
    #[test]
    fn errors_are_one_line(name in "\\PC{0,12}", instance in "\\PC{0,24}") {
        match Instance::parse(&name, &instance) {
            Ok(read) => {
                prop_assert!(!read.word.is_empty() && read.port != Some(0));
                prop_assert!(instance.split_whitespace().count() <= 2);
            }
            Err(result) => prop_assert!(!result.contains('\n')),
        }
    }

    #[test]
    fn accepts_all_ports(word in "[a-z][a-z0-9_.:]{0,14}", port in 0u32..1000) {
        let result = Instance::parse("", &format!("{word} {port}"));
        match u8::try_from(port) {
            Ok(0) => prop_assert_eq!(result, Ok(Instance { word, port: None })),
            Ok(port) => prop_assert_eq!(result, Ok(Instance { word, port: Some(port) })),
            Err(_) => prop_assert!(result.is_err()),
        }
    }
}
