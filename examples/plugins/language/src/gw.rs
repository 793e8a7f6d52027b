//! The part of plugin ABI version 1 that this plugin needs (gateway/sdk/ABI.md), as Rust would have it.

mod host {
    #[link(wasm_import_module = "gw_abi_1")]
    extern "C" {
        pub fn config_get(pointer: *const u8, len: usize, buf: *mut u8, cap: usize) -> i32;
        pub fn config_count(pointer: *const u8, len: usize) -> i32;
        pub fn fail(message: *const u8, len: usize);
        pub fn request_header_get(name: *const u8, len: usize, buf: *mut u8, cap: usize) -> i32;
        pub fn request_header_change(op: i32, name: *const u8, len: usize, value: *const u8, value_len: usize);
        pub fn response_header_change(op: i32, name: *const u8, len: usize, value: *const u8, value_len: usize);
        pub fn host_log(level: i32, message: *const u8, len: usize);
    }
}

const SET: i32 = 0;
const ADD: i32 = 1;
const DEBUG: i32 = 1;

/// `on_request`: go on with the chain. `init`: the config is good.
pub const OK: i32 = 0;

/// The value's bytes in `buf`; `None` where it is absent, or longer than `buf`.
fn filled(buf: &[u8], length: i32) -> Option<&[u8]> {
    usize::try_from(length).ok().and_then(|length| buf.get(..length))
}

/// The config's value at a JSON pointer.
pub fn config<'a>(pointer: &[u8], buf: &'a mut [u8]) -> Option<&'a [u8]> {
    // SAFETY: the host writes at most `cap` bytes, as all these functions do.
    let length = unsafe { host::config_get(pointer.as_ptr(), pointer.len(), buf.as_mut_ptr(), buf.len()) };
    filled(buf, length)
}

/// Elements of the array at a JSON pointer.
pub fn config_count(pointer: &[u8]) -> usize {
    // SAFETY: the host reads `pointer` only.
    usize::try_from(unsafe { host::config_count(pointer.as_ptr(), pointer.len()) }).unwrap_or(0)
}

/// Says why the config is refused; what `init` returns then.
pub fn refuse(message: &[u8]) -> i32 {
    // SAFETY: the host reads `message` only.
    unsafe { host::fail(message.as_ptr(), message.len()) };
    1
}

pub fn request_header<'a>(name: &[u8], buf: &'a mut [u8]) -> Option<&'a [u8]> {
    // SAFETY: as for `config`.
    let length = unsafe { host::request_header_get(name.as_ptr(), name.len(), buf.as_mut_ptr(), buf.len()) };
    filled(buf, length)
}

pub fn set_request_header(name: &[u8], value: &[u8]) {
    // SAFETY: the host reads both only.
    unsafe { host::request_header_change(SET, name.as_ptr(), name.len(), value.as_ptr(), value.len()) }
}

pub fn add_response_header(name: &[u8], value: &[u8]) {
    // SAFETY: the host reads both only.
    unsafe { host::response_header_change(ADD, name.as_ptr(), name.len(), value.as_ptr(), value.len()) }
}

pub fn debug(message: &[u8]) {
    // SAFETY: the host reads `message` only.
    unsafe { host::host_log(DEBUG, message.as_ptr(), message.len()) }
}
