//! The instance data of an RDMA adapter.

use std::fmt;

/// Parsed instance data: `NETDEV PORT`, `DEVICE PORT`, an address or a host name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// An interface, a device, an address or a host name; not empty.
    pub word: String,
    /// The port, counted from 1; `None` for any port (absent or 0).
    pub port: Option<u8>,
}

impl Instance {
    /// Parses instance data. If they are empty, takes the interface from the entry's name `verbs-NETDEV`.
    ///
    /// # Errors
    /// One line for the user.
    pub fn parse(name: &str, instance: &str) -> Result<Self, String> {
        let mut words = instance.split_whitespace();
        let Some(word) = words.next().or_else(|| name.strip_prefix("verbs-").filter(|rest| !rest.is_empty())) else {
            return Err("instance data are missing: an interface and 0, a device and a port, or an address".to_owned());
        };
        let port = match words.next() {
            None => None,
            // `parse` would accept a sign.
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
mod tests;
