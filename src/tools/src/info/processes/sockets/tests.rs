use std::net::{TcpListener, TcpStream};

use super::*;

#[test]
fn finds_the_connections_of_a_process() {
    for local in ["127.0.0.1:0", "[::1]:0"] {
        let Ok(listener) = TcpListener::bind(local) else { continue };
        let near = TcpStream::connect(listener.local_addr().expect("an address")).expect("a connection");
        let ends = (near.local_addr().expect("an address"), near.peer_addr().expect("an address"));
        assert!(connections(std::process::id() as i32).contains(&ends), "{ends:?}");
    }
}

#[test]
fn rejects_other_lines_and_links() {
    for line in ["", "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"]
    {
        assert_eq!(connection(line), None, "{line}");
    }
    assert_eq!(address("0100007F"), None);
    assert_eq!(address("é100007:0016"), None);
    assert_eq!([inode("socket:[12]"), inode("pipe:[12]"), inode("socket:[]")], [Some(12), None, None]);
}
