//! Counts the work of an inspection, and ends it before the module's memory does. A unit is about what a table of a
//! pattern costs for a byte, some nanoseconds; the host's fuel stays the outer bound.

use std::cell::Cell;

pub struct Meter {
    budget: u64,
    left: Cell<u64>,
    spent: Cell<bool>,
}

impl Meter {
    pub fn new(budget: u64) -> Meter {
        Meter { budget, left: Cell::new(budget), spent: Cell::new(false) }
    }

    /// Takes units, before the work that they stand for; false, from then on, if there are not as many left, or no
    /// memory.
    pub fn charge(&self, units: usize) -> bool {
        match self.left.get().checked_sub(units as u64) {
            Some(left) if !self.spent.get() && has_room(0) => {
                self.left.set(left);
                true
            }
            _ => {
                self.spend();
                false
            }
        }
    }

    /// Reports whether so many bytes may be allocated; ends the inspection if not.
    pub fn allows(&self, bytes: usize) -> bool {
        if !has_room(bytes) {
            self.spend();
        }
        !self.spent.get()
    }

    /// Ends the inspection, as past its budget.
    pub fn spend(&self) {
        self.left.set(0);
        self.spent.set(true);
    }

    pub fn is_spent(&self) -> bool {
        self.spent.get()
    }

    /// Units that were charged.
    pub fn used(&self) -> u64 {
        self.budget - self.left.get()
    }
}

#[cfg(target_family = "wasm")]
fn has_room(bytes: usize) -> bool {
    crate::arena::ARENA.has_room(bytes)
}

#[cfg(not(target_family = "wasm"))]
fn has_room(_: usize) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_work_past_the_budget() {
        let meter = Meter::new(10);
        assert!(meter.charge(10));
        assert!(!meter.is_spent());
        assert!(!meter.charge(1));
        assert!(meter.is_spent());
        assert_eq!(meter.used(), 10);
    }
}
