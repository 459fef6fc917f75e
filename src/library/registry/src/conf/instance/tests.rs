use super::*;
use proptest::prelude::*;

fn parse(instance: &str) -> Instance {
    Instance::parse("", instance).unwrap()
}

#[test]
fn the_second_word_is_a_port() {
    assert_eq!(parse("ib0 0"), Instance { word: "ib0".to_owned(), port: None });
    assert_eq!(parse(" mlx4_0\t2 "), Instance { word: "mlx4_0".to_owned(), port: Some(2) });
    assert_eq!(parse("ib0").port, None);
    for (bad, word) in [("v0 banana", "banana"), ("v0 300", "300"), ("v0 -1", "-1"), ("v0 +1", "+1"), ("v0 0 x", "x")] {
        let told = Instance::parse("verbs-v0", bad).unwrap_err();
        assert!(told.contains(bad) && told.contains(word), "{told}");
    }
}

#[test]
fn without_instance_data_the_name_says_it() {
    assert_eq!(Instance::parse("verbs-v0", "").unwrap().word, "v0");
    assert_eq!(Instance::parse("verbs-v0", "v1 0").unwrap().word, "v1");
    assert!(Instance::parse("verbs-", " ").is_err());
    assert!(Instance::parse("OpenIB-cma", "").unwrap_err().contains("missing"));
}

proptest! {
    #[test]
    fn whatever_is_written_is_an_instance_or_one_line(name in "\\PC{0,12}", instance in "\\PC{0,24}") {
        match Instance::parse(&name, &instance) {
            Ok(read) => {
                prop_assert!(!read.word.is_empty() && read.port != Some(0));
                prop_assert!(instance.split_whitespace().count() <= 2);
            }
            Err(told) => prop_assert!(!told.contains('\n')),
        }
    }

    #[test]
    fn every_port_is_understood(word in "[a-z][a-z0-9_.:]{0,14}", port in 0u32..1000) {
        let told = Instance::parse("", &format!("{word} {port}"));
        match u8::try_from(port) {
            Ok(0) => prop_assert_eq!(told, Ok(Instance { word, port: None })),
            Ok(port) => prop_assert_eq!(told, Ok(Instance { word, port: Some(port) })),
            Err(_) => prop_assert!(told.is_err()),
        }
    }
}
