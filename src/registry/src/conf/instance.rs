//! The instance data of an adapter over RDMA, as the provider and dat-info read them.

use std::fmt;

/// What instance data name: `NETDEV PORT`, `DEVICE PORT`, an address or the name of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// An interface, a device, an address or a host name; it is not empty.
    pub word: String,
    /// The required port, counted from 1; `None` for any, if nothing or 0 was written.
    pub port: Option<u8>,
}

impl Instance {
    /// Reads the words. If there are none, the entry's name `verbs-NETDEV` tells the interface.
    ///
    /// # Errors
    /// One line that says what is wrong with them.
    pub fn parse(name: &str, instance: &str) -> Result<Self, String> {
        let mut words = instance.split_whitespace();
        let Some(word) = words.next().or_else(|| name.strip_prefix("verbs-").filter(|rest| !rest.is_empty())) else {
            return Err("instance data are missing: an interface and 0, a device and a port, or an address".to_owned());
        };
        let port = match words.next() {
            None => None,
            // The parser of numbers would take a sign.
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                let number =
                    digits.parse::<u8>().map_err(|_| format!("instance data {instance:?}: no port {digits}"))?;
                Some(number).filter(|&port| port != 0)
            }
            Some(other) => return Err(format!("instance data {instance:?}: {other:?} is not the number of a port")),
        };
        match words.next() {
            None => Ok(Instance { word: word.to_owned(), port }),
            Some(more) => Err(format!("instance data {instance:?}: {more:?} is one word too many")),
        }
    }
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{:?} port {port}", self.word),
            None => write!(f, "{:?}", self.word),
        }
    }
}

#[cfg(test)]
mod tests {
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
        for (bad, word) in
            [("v0 banana", "banana"), ("v0 300", "300"), ("v0 -1", "-1"), ("v0 +1", "+1"), ("v0 0 x", "x")]
        {
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
}
