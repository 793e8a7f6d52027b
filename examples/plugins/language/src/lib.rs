//! A gw plugin in Rust, without its standard library and without an allocator: it tells the upstream which of the
//! languages on offer the caller prefers.
#![no_std]

mod gw;
mod negotiation;

use core::ptr::{addr_of, addr_of_mut};

const MOST_LANGUAGES: usize = 32;
/// Longest tag, and longest `Accept-Language` that is looked at.
const TAG: usize = 35;
const HEADER: usize = 1024;

/// What `init` reads of the config. The host keeps it with the rest of the memory, for every call.
struct Config {
    tags: [[u8; TAG]; MOST_LANGUAGES],
    lengths: [usize; MOST_LANGUAGES],
    count: usize,
}

static mut CONFIG: Config = Config { tags: [[0; TAG]; MOST_LANGUAGES], lengths: [0; MOST_LANGUAGES], count: 0 };

impl Config {
    fn tag(&self, index: usize) -> &[u8] {
        &self.tags[index][..self.lengths[index]]
    }
}

#[no_mangle]
pub extern "C" fn init() -> i32 {
    // SAFETY: an instance runs one call at a time.
    let config = unsafe { &mut *addr_of_mut!(CONFIG) };
    config.count = gw::config_count(b"/languages");
    if config.count > MOST_LANGUAGES {
        return gw::refuse(b"/languages has more than 32 entries");
    }
    for index in 0..config.count {
        let mut pointer = *b"/languages/__";
        let mut tag = [0; TAG];
        let Some(length) = gw::config(element(&mut pointer, index), &mut tag).map(<[u8]>::len) else {
            return gw::refuse(b"a language is longer than 35 bytes");
        };
        config.tags[index] = tag;
        config.lengths[index] = length;
    }
    gw::OK
}

/// Puts the index, of one or two digits, behind `/languages/`.
fn element(pointer: &mut [u8; 13], index: usize) -> &[u8] {
    let digits = [b'0' + (index / 10) as u8, b'0' + (index % 10) as u8];
    // JSON pointers have no leading zeros.
    let written = if index < 10 { &digits[1..] } else { &digits[..] };
    pointer[11..11 + written.len()].copy_from_slice(written);
    &pointer[..11 + written.len()]
}

#[no_mangle]
pub extern "C" fn on_request() -> i32 {
    // SAFETY: only `init` writes it.
    let config = unsafe { &*addr_of!(CONFIG) };
    let mut buf = [0; HEADER];
    let accept = gw::request_header(b"accept-language", &mut buf).unwrap_or_default();
    let offered = (0..config.count).map(|index| config.tag(index));
    let index = negotiation::preferred(accept, offered).unwrap_or_else(|| {
        gw::debug(b"none of the languages on offer is wanted: the first is taken");
        0
    });
    gw::set_request_header(b"x-language", config.tag(index));
    gw::add_response_header(b"content-language", config.tag(index));
    gw::add_response_header(b"vary", b"accept-language");
    gw::OK
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}
