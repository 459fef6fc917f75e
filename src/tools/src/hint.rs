//! What may be the cause if a server was not reached.

use std::net::IpAddr;

use crate::shell::operand;

/// A question for the user.
///
/// # Parameters
/// * `tool` - the program that should be the server.
/// * `own` - the address of the adapter.
/// * `host` - the address at which the server was looked for.
/// * `late` - nobody has refused, but there was no answer in time.
pub fn hint(tool: &str, adapter: &str, own: Option<IpAddr>, host: IpAddr, late: bool) -> String {
    let here = host.is_loopback() || host::net::interfaces().iter().any(|(_, address)| *address == host);
    // From another host, silence may also be that of a network.
    if late && here {
        return "it listens but does not answer; is it stopped or busy?".to_owned();
    }
    // Through shared memory, whose adapter has the address of no network, processes of other users are not reached.
    let user = if here && own.is_some_and(|own| own.is_loopback()) { ", as this user" } else { "" };
    format!("is `{tool} {}` running there{user}?", operand(adapter))
}

#[cfg(test)]
mod tests;
