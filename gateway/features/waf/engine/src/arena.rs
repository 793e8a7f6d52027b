//! The module's allocator. What is allocated while the rules are read stays; afterwards memory is taken from one run of
//! bytes and given back by the host, which puts the module's memory back after each call. So a call writes to few
//! places. Blocks that a call frees are used again by their size. While the rules are read, the same run holds what is
//! needed for a moment only (`scratch`), so that it leaves no holes between what stays.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Where memory comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    System,
    /// The run of bytes, then the system.
    Scratch,
    /// The run of bytes alone.
    Sealed,
}

pub struct Arena {
    start: Cell<usize>,
    next: Cell<usize>,
    /// 0 until the run is there.
    end: Cell<usize>,
    mode: Cell<Mode>,
    /// First free block by the logarithm of its size; a block begins with its size and the address of the next one.
    free: [Cell<usize>; CLASSES],
}

// SAFETY: the module has one thread.
unsafe impl Sync for Arena {}

#[global_allocator]
pub static ARENA: Arena = Arena {
    start: Cell::new(0),
    next: Cell::new(0),
    end: Cell::new(0),
    mode: Cell::new(Mode::System),
    free: [const { Cell::new(0) }; CLASSES],
};

/// Bytes that a call may allocate. They lie at the end of memory and are zero between calls, so that they take no room in
/// the state that is kept.
const BYTES: usize = 24 << 20;
/// Bytes of them that must be left for work to go on: more than any step of it takes.
const RESERVE: usize = 8 << 20;
const PAGE: usize = 64 << 10;
const CLASSES: usize = usize::BITS as usize;
/// Smallest block that is used again, and the alignment of such blocks.
const SMALLEST: usize = 64;
const ALIGNMENT: usize = 8;
/// Blocks that are looked at where some are too small.
const LOOKS: usize = 4;
/// Bytes that the system's allocator, dlmalloc, keeps for itself at the end of the memory that a module begins with:
/// `TOP_FOOT_SIZE` of its sources.
const FOOTER: usize = 56;

/// Returns a copy of what `build` returns, which must share nothing with it. All else that it allocates is gone. Not to be
/// called from within `build`.
pub fn scratch<T: Clone>(build: impl FnOnce() -> T) -> T {
    if !ARENA.reserve() {
        return build();
    }
    ARENA.mode.set(Mode::Scratch);
    let built = build();
    ARENA.mode.set(Mode::System);
    let copy = built.clone();
    ARENA.mode.set(Mode::Scratch);
    drop(built);
    ARENA.mode.set(Mode::System);
    ARENA.empty();
    copy
}

impl Arena {
    /// Takes all memory from now on from one run of bytes. False if the module may not have as many.
    pub fn seal(&self) -> bool {
        if !self.reserve() {
            return false;
        }
        let start = self.start.get();
        // SAFETY: nobody uses the run, and nobody asks the system's allocator for memory any more. Its footer would make
        // the state that is kept as long as the memory that the module began with.
        unsafe { std::ptr::write_bytes((start - FOOTER) as *mut u8, 0, FOOTER + BYTES) };
        self.mode.set(Mode::Sealed);
        true
    }

    fn reserve(&self) -> bool {
        if self.end.get() > 0 {
            return true;
        }
        let pages = core::arch::wasm32::memory_grow(0, BYTES / PAGE);
        if pages == usize::MAX {
            return false;
        }
        let start = pages * PAGE;
        self.start.set(start);
        self.end.set(start + BYTES);
        self.empty();
        true
    }

    fn empty(&self) {
        self.next.set(self.start.get());
        self.free.iter().for_each(|list| list.set(0));
    }

    /// Reports whether a call may allocate so many bytes more.
    pub fn has_room(&self, bytes: usize) -> bool {
        self.mode.get() != Mode::Sealed || bytes <= BYTES && self.next.get() + bytes + RESERVE <= self.end.get()
    }

    fn has(&self, start: usize) -> bool {
        self.start.get() <= start && start < self.end.get()
    }

    fn take(&self, layout: Layout) -> Option<usize> {
        let is_large = layout.size() >= SMALLEST && layout.align() <= ALIGNMENT;
        let free = if is_large { self.take_free(layout.size()) } else { None };
        free.or_else(|| {
            let start = self.next.get().next_multiple_of(if is_large { ALIGNMENT } else { layout.align() });
            let end = start + layout.size();
            (end <= self.end.get()).then(|| {
                self.next.set(end);
                start
            })
        })
    }

    fn take_free(&self, size: usize) -> Option<usize> {
        let class = size.ilog2() as usize;
        // Blocks of the next class are large enough, whichever it is.
        self.unlink(class, size).or_else(|| self.unlink(class + 1, size))
    }

    fn unlink(&self, class: usize, size: usize) -> Option<usize> {
        let mut link: *const Cell<usize> = self.free.get(class)?;
        for _ in 0..LOOKS {
            // SAFETY: a link is one of `free`, or the second word of a free block.
            let block = unsafe { (*link).get() };
            if block == 0 {
                return None;
            }
            let words = block as *const Cell<usize>;
            let (found, next) = unsafe { (&*words, words.add(1)) };
            if found.get() >= size {
                unsafe { (*link).set((*next).get()) };
                return Some(block);
            }
            link = next;
        }
        None
    }

    fn give_back(&self, start: usize, size: usize) {
        if size < SMALLEST || !start.is_multiple_of(ALIGNMENT) {
            return;
        }
        let list = &self.free[size.ilog2() as usize];
        let words = start as *mut usize;
        // SAFETY: the block has room for two words, and nobody uses it.
        unsafe {
            words.write(size);
            words.add(1).write(list.get());
        }
        list.set(start);
    }
}

// SAFETY: each allocation is a range of its own, in the run of bytes or of the system's allocator.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let own = if self.mode.get() == Mode::System { None } else { self.take(layout) };
        match own {
            Some(start) => start as *mut u8,
            None if self.mode.get() == Mode::Sealed => std::ptr::null_mut(),
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let start = pointer as usize;
        if !self.has(start) {
            // A call does not write to memory of before, which would have to be put back.
            if self.mode.get() != Mode::Sealed {
                unsafe { System.dealloc(pointer, layout) }
            }
        } else if start + layout.size() == self.next.get() {
            self.next.set(start);
        } else {
            self.give_back(start, layout.size());
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let start = pointer as usize;
        if self.mode.get() != Mode::Sealed && !self.has(start) {
            return unsafe { System.realloc(pointer, layout, size) };
        }
        if start + layout.size() == self.next.get() && start + size <= self.end.get() {
            self.next.set(start + size);
            return pointer;
        }
        let new = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !new.is_null() {
            unsafe { std::ptr::copy_nonoverlapping(pointer, new, layout.size().min(size)) };
            unsafe { self.dealloc(pointer, layout) };
        }
        new
    }
}
