// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receives a message from a second process, which this program starts:
//!
//! ```sh
//! cargo run -p dat --example message shm
//! ```

use std::env;
use std::error::Error;
use std::ffi::CString;
use std::process::Command;
use std::time::Duration;

use dat::sys::{DAT_CONNECTION_EVENT_ESTABLISHED, DAT_DTO_SUCCESS, DAT_EVD_CR_FLAG};
use dat::sys::{DAT_MEM_PRIV_LOCAL_READ_FLAG, DAT_MEM_PRIV_LOCAL_WRITE_FLAG};
use dat::{Api, Ep, Evd, Evds, Event, Ia, Library, Psp, Pz, Region, Request, event_name, status_name};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const TIMEOUT: Duration = Duration::from_secs(10);
const SIZE: usize = 64;

/// An endpoint with its dispatchers, and memory for one message.
struct Side {
    evds: Evds,
    ep: Ep,
    region: Region,
}

impl Side {
    fn new(ia: &Ia) -> Result<Self> {
        let pz = Pz::new(ia)?;
        let evds = Evds::new(ia, [8; 3], None)?;
        let ep = Ep::new(&pz, &evds, None, &ia.attributes()?, SIZE as u64, [1, 1])?;
        let region = Region::new(&pz, SIZE, DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG)?;
        Ok(Self { evds, ep, region })
    }

    /// Waits until the endpoint is connected.
    fn connected(&self) -> Result<()> {
        match self.evds.connect.wait(TIMEOUT)? {
            Some(Event::Connection(event)) if event.number == DAT_CONNECTION_EVENT_ESTABLISHED => Ok(()),
            Some(Event::Connection(event)) => Err(event_name(event.number).into()),
            _ => Err("no connection".into()),
        }
    }
}

/// Waits until a transfer completes. Returns its number of bytes.
fn completed(evd: &Evd) -> Result<usize> {
    match evd.wait(TIMEOUT)? {
        Some(Event::Completion(event)) if event.status == DAT_DTO_SUCCESS => Ok(event.length.try_into()?),
        Some(Event::Completion(event)) => Err(status_name(event.status).into()),
        _ => Err("no completion".into()),
    }
}

fn receive(ia: &Ia, name: &str) -> Result<()> {
    let side = Side::new(ia)?;
    let requests = Evd::new(ia, 8, DAT_EVD_CR_FLAG, None)?;
    let psp = Psp::new(ia, None, &requests)?;
    // The sender may send as soon as it is connected, so the receive is posted first.
    side.ep.post_recv(side.region.segment(0, SIZE), 1)?;
    let mut sender = Command::new(env::current_exe()?).args([name, &psp.qualifier.to_string()]).spawn()?;

    let Some(Event::Request(request)) = requests.wait(TIMEOUT)? else { return Err("no connection request".into()) };
    request.accept(&side.ep, &[])?;
    side.connected()?;
    let mut message = vec![0; completed(&side.evds.recv)?];
    side.region.read(0, &mut message);
    println!("received: {}", String::from_utf8_lossy(&message));
    if sender.wait()?.success() { Ok(()) } else { Err("the sender has failed".into()) }
}

fn send(ia: &Ia, qualifier: u64) -> Result<()> {
    let side = Side::new(ia)?;
    let host = ia.attributes()?.address.ok_or("the adapter has no address")?.ip();
    side.ep.connect(host, qualifier, TIMEOUT, &[])?;
    side.connected()?;
    let message = b"hello";
    side.region.write(0, message);
    side.ep.post_send(side.region.segment(0, message.len()), 1)?;
    completed(&side.evds.request)?;
    Ok(())
}

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let name = arguments.next().ok_or("usage: message ADAPTER")?;
    let ia = Ia::open(Library::find(Api::V20)?, &CString::new(name.as_str())?, Request::of(Api::V20))?;
    match arguments.next() {
        None => receive(&ia, &name),
        Some(qualifier) => send(&ia, qualifier.parse()?),
    }
}
