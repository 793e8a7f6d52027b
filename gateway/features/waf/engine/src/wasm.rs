//! The engine's exports as a WebAssembly module.

use crate::frame;
use crate::program;
use crate::rules::RuleSet;
use std::cell::RefCell;

struct State {
    input: Vec<u8>,
    output: Vec<u8>,
    rules: Option<RuleSet>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::new(State {
        input: Vec::new(),
        output: Vec::new(),
        rules: None,
    });
}

/// Makes room for so many bytes of input; returns where to write them.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        // Of the memory of before, none is kept: it may have to be put back.
        state.input = vec![0; length];
        state.input.as_mut_ptr()
    })
}

/// Reads the program that `input` has; returns the length of an error, 0 for none.
#[unsafe(no_mangle)]
pub extern "C" fn load() -> usize {
    STATE.with_borrow_mut(|state| {
        state.output.clear();
        match program::read(&state.input) {
            Ok(rules) => state.rules = Some(rules),
            Err(error) => state.output.extend_from_slice(error.as_bytes()),
        }
        state.input = Vec::new();
        state.output.len()
    })
}

/// Inspects the request that `input` has; returns the length of the verdict.
#[unsafe(no_mangle)]
pub extern "C" fn inspect() -> usize {
    STATE.with_borrow_mut(|state| {
        state.output = Vec::with_capacity(4096);
        if let Some(rules) = &state.rules {
            frame::inspect(rules, &state.input, &mut state.output);
        }
        state.output.len()
    })
}

/// Ends the preparation, after `load` and requests that fill the caches: what is allocated from now on lies in one run of
/// bytes. Returns 0, or 1 if there is no memory for it.
#[unsafe(no_mangle)]
pub extern "C" fn seal() -> usize {
    STATE.with_borrow_mut(|state| {
        state.input = Vec::new();
        state.output = Vec::new();
    });
    usize::from(!crate::arena::ARENA.seal())
}

/// Returns where the output of the last call is.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    STATE.with_borrow(|state| state.output.as_ptr())
}
