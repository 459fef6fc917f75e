//! The rounds of dat-ping: at the client, the [`session`]; at the server, the [`responder`].

pub mod responder;
pub mod session;
pub mod wire;
