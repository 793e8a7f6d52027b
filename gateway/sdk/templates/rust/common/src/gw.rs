//! The plugin ABI of gw, version 1, for Rust: the functions that most plugins need. Every function of the gateway is in
//! ABI.md (https://www.npmjs.com/package/@gw/plugin-sdk): declare it in `host` below, and in `plugin.toml` if its name
//! begins with `host_`.
//!
//! The gateway restores memory before every call to what `init` left. So nothing is freed, and a `static` that `init` has
//! set is there in every call.
#![allow(dead_code)]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;

mod host {
    #[link(wasm_import_module = "gw_abi_1")]
    extern "C" {
        pub fn config_get(pointer: *const u8, len: usize, buf: *mut u8, cap: usize) -> i32;
        pub fn config_count(pointer: *const u8, len: usize) -> i32;
        pub fn fail(message: *const u8, len: usize);
        pub fn request_get(field: i32, buf: *mut u8, cap: usize) -> i32;
        pub fn request_header_get(name: *const u8, len: usize, buf: *mut u8, cap: usize) -> i32;
        pub fn request_header_change(op: i32, name: *const u8, len: usize, value: *const u8, value_len: usize);
        pub fn request_query_get(name: *const u8, len: usize, buf: *mut u8, cap: usize) -> i32;
        pub fn path_param_get(name: *const u8, len: usize, buf: *mut u8, cap: usize) -> i32;
        pub fn context_get(key: *const u8, len: usize, buf: *mut u8, cap: usize) -> i32;
        pub fn context_set(key: *const u8, len: usize, value: *const u8, value_len: usize);
        pub fn state_get(key: *const u8, len: usize, buf: *mut u8, cap: usize) -> i32;
        pub fn state_set(key: *const u8, len: usize, value: *const u8, value_len: usize);
        pub fn request_body_length() -> i32;
        pub fn request_body_read(offset: usize, buf: *mut u8, cap: usize) -> i32;
        pub fn request_body_set(body: *const u8, len: usize);
        pub fn respond(status: i32, body: *const u8, len: usize);
        #[rustfmt::skip]
        pub fn respond_problem(status: i32, kind: *const u8, kind_len: usize, title: *const u8, title_len: usize, detail: *const u8, detail_len: usize, members: *const u8, members_len: usize);
        pub fn response_header_change(op: i32, name: *const u8, len: usize, value: *const u8, value_len: usize);
        pub fn response_status() -> i32;
        pub fn response_status_set(status: i32);
        pub fn response_header_get(name: *const u8, len: usize, buf: *mut u8, cap: usize) -> i32;
        pub fn response_body_length() -> i32;
        pub fn response_body_read(offset: usize, buf: *mut u8, cap: usize) -> i32;
        pub fn response_body_set(body: *const u8, len: usize);
        pub fn time_now() -> f64;
        pub fn host_log(level: i32, message: *const u8, len: usize);
    }
}

/// `init`: the config is good.
pub const READY: i32 = 0;
/// `on_request`: go on with the chain; `on_response`: send it.
pub const CONTINUE: i32 = 0;
/// The hook has answered.
pub const ANSWERED: i32 = 1;
/// `dispatch` has handed the request off.
pub const HANDED_OFF: i32 = 2;

const SET: i32 = 0;
const ADD: i32 = 1;
const REMOVE: i32 = 2;

/// Calls a function that writes a value, with a larger buffer if the value needs one. `None`: the value is absent.
fn read(get: impl Fn(*mut u8, usize) -> i32) -> Option<String> {
    let mut bytes = vec![0; 256];
    let mut length = usize::try_from(get(bytes.as_mut_ptr(), bytes.len())).ok()?;
    if length > bytes.len() {
        bytes = vec![0; length];
        length = usize::try_from(get(bytes.as_mut_ptr(), bytes.len())).ok()?.min(length);
    }
    bytes.truncate(length);
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn body(length: i32, get: unsafe extern "C" fn(usize, *mut u8, usize) -> i32) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    // SAFETY: the gateway writes at most as many bytes as there is room for.
    unsafe { get(0, bytes.as_mut_ptr(), bytes.len()) };
    bytes
}

/// The config. Read it in `init`.
pub mod config {
    use super::{host, read};

    /// The value at a JSON pointer: strings as they are, all else as JSON. `None`: there is no value.
    pub fn get(pointer: &str) -> Option<String> {
        // SAFETY: the gateway reads and writes only the bytes that it is given, as in every function of this file.
        read(|buf, cap| unsafe { host::config_get(pointer.as_ptr(), pointer.len(), buf, cap) })
    }

    /// The number at a JSON pointer.
    pub fn number(pointer: &str) -> Option<f64> {
        get(pointer)?.parse().ok()
    }

    /// Elements of the list or members of the object at a JSON pointer; 0 for other values.
    pub fn count(pointer: &str) -> usize {
        usize::try_from(unsafe { host::config_count(pointer.as_ptr(), pointer.len()) }).unwrap_or(0)
    }

    /// Says why the config is refused; return the result from `init`. After `init`, it ends the call.
    pub fn refuse(why: &str) -> i32 {
        unsafe { host::fail(why.as_ptr(), why.len()) };
        1
    }
}

/// The request: read on demand, changed in place.
pub mod request {
    use super::{host, read, ADD, REMOVE, SET};

    fn field(number: i32) -> Option<String> {
        read(|buf, cap| unsafe { host::request_get(number, buf, cap) })
    }

    pub fn method() -> String {
        field(0).unwrap_or_default()
    }

    /// As sent, without the query.
    pub fn path() -> String {
        field(1).unwrap_or_default()
    }

    /// Without `?`.
    pub fn query() -> Option<String> {
        field(2)
    }

    /// Address of the client.
    pub fn client_ip() -> String {
        field(3).unwrap_or_default()
    }

    /// All values of a header, joined with `, `. Names in any case.
    pub fn header(name: &str) -> Option<String> {
        read(|buf, cap| unsafe { host::request_header_get(name.as_ptr(), name.len(), buf, cap) })
    }

    fn change_header(op: i32, name: &str, value: &str) {
        unsafe { host::request_header_change(op, name.as_ptr(), name.len(), value.as_ptr(), value.len()) }
    }

    pub fn set_header(name: &str, value: &str) {
        change_header(SET, name, value);
    }

    pub fn add_header(name: &str, value: &str) {
        change_header(ADD, name, value);
    }

    pub fn remove_header(name: &str) {
        change_header(REMOVE, name, "");
    }

    /// The first value of a query parameter, decoded.
    pub fn query_param(name: &str) -> Option<String> {
        read(|buf, cap| unsafe { host::request_query_get(name.as_ptr(), name.len(), buf, cap) })
    }

    /// A path parameter, decoded.
    pub fn path_param(name: &str) -> Option<String> {
        read(|buf, cap| unsafe { host::path_param_get(name.as_ptr(), name.len(), buf, cap) })
    }

    /// The whole body; waits for it. Needs `request_body = "buffer"` in plugin.toml.
    pub fn body() -> Vec<u8> {
        super::body(unsafe { host::request_body_length() }, host::request_body_read)
    }

    pub fn set_body(body: &[u8]) {
        unsafe { host::request_body_set(body.as_ptr(), body.len()) }
    }
}

/// The response: answering, and changing what is about to be sent.
pub mod response {
    use super::{host, read, ADD, REMOVE, SET};

    /// Answers; return `ANSWERED` from the hook.
    pub fn send(status: i32, body: &[u8]) {
        unsafe { host::respond(status, body.as_ptr(), body.len()) }
    }

    /// Answers with a problem document; `kind` without its URN prefix. Return `ANSWERED` from the hook.
    #[rustfmt::skip]
    pub fn problem(status: i32, kind: &str, title: &str, detail: &str) {
        let none = "";
        unsafe {
            host::respond_problem(status, kind.as_ptr(), kind.len(), title.as_ptr(), title.len(), detail.as_ptr(), detail.len(), none.as_ptr(), 0)
        }
    }

    fn change_header(op: i32, name: &str, value: &str) {
        unsafe { host::response_header_change(op, name.as_ptr(), name.len(), value.as_ptr(), value.len()) }
    }

    /// Before there is a response: for whatever it will be.
    pub fn set_header(name: &str, value: &str) {
        change_header(SET, name, value);
    }

    pub fn add_header(name: &str, value: &str) {
        change_header(ADD, name, value);
    }

    pub fn remove_header(name: &str) {
        change_header(REMOVE, name, "");
    }

    /// In `on_response`.
    pub fn status() -> i32 {
        unsafe { host::response_status() }
    }

    pub fn set_status(status: i32) {
        unsafe { host::response_status_set(status) }
    }

    pub fn header(name: &str) -> Option<String> {
        read(|buf, cap| unsafe { host::response_header_get(name.as_ptr(), name.len(), buf, cap) })
    }

    /// In `on_response`. Needs `response_body = "buffer"` in plugin.toml.
    pub fn body() -> Vec<u8> {
        super::body(unsafe { host::response_body_length() }, host::response_body_read)
    }

    pub fn set_body(body: &[u8]) {
        unsafe { host::response_body_set(body.as_ptr(), body.len()) }
    }
}

/// What plugins tell each other about a request.
pub mod context {
    use super::{host, read};

    pub fn get(key: &str) -> Option<String> {
        read(|buf, cap| unsafe { host::context_get(key.as_ptr(), key.len(), buf, cap) })
    }

    pub fn set(key: &str, value: &str) {
        unsafe { host::context_set(key.as_ptr(), key.len(), value.as_ptr(), value.len()) }
    }
}

/// What this plugin keeps from one hook of a request to the next.
pub mod state {
    use super::{host, read};

    pub fn get(key: &str) -> Option<String> {
        read(|buf, cap| unsafe { host::state_get(key.as_ptr(), key.len(), buf, cap) })
    }

    pub fn set(key: &str, value: &str) {
        unsafe { host::state_set(key.as_ptr(), key.len(), value.as_ptr(), value.len()) }
    }
}

/// Milliseconds since the epoch.
pub fn now() -> f64 {
    unsafe { host::time_now() }
}

/// Logs a message. Needs `host_functions = ["host_log"]` in plugin.toml.
pub fn info(message: &str) {
    unsafe { host::host_log(2, message.as_ptr(), message.len()) }
}

/// Allocates from the front to the end, since memory is restored before every call. Memory that is there already is used
/// first: a call that grows memory is expensive.
struct Bump(UnsafeCell<usize>);

// SAFETY: an instance runs one call at a time.
unsafe impl Sync for Bump {}

const ARENA: usize = 64 << 10;
static mut FIRST: [u8; ARENA] = [0; ARENA];
const PAGE: usize = 64 << 10;

#[global_allocator]
static BUMP: Bump = Bump(UnsafeCell::new(0));

unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let first = std::ptr::addr_of_mut!(FIRST) as usize;
        let next = self.0.get();
        let at = (if *next == 0 { first } else { *next } + layout.align() - 1) & !(layout.align() - 1);
        let end = match at.checked_add(layout.size()) {
            Some(end) => end,
            None => return std::ptr::null_mut(),
        };
        if at <= first + ARENA && end <= first + ARENA {
            *next = end;
            return at as *mut u8;
        }
        // Behind the first memory: at its end, or where the last allocation ended.
        let size = core::arch::wasm32::memory_size(0) * PAGE;
        let at = if *next <= first + ARENA { size } else { at };
        let end = match at.checked_add(layout.size()) {
            Some(end) => end,
            None => return std::ptr::null_mut(),
        };
        if end > size && core::arch::wasm32::memory_grow(0, (end - size + PAGE - 1) / PAGE) == usize::MAX {
            return std::ptr::null_mut();
        }
        *next = end;
        at as *mut u8
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}
