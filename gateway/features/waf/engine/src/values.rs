//! The values of a transaction, each once, with what transformations make of them and the literals that they have.

use crate::meter::Meter;
use crate::rules::RuleSet;
use crate::transform::{self, Transform};

/// Index of a value; 0 is the empty one.
pub type ValueId = u32;
pub const EMPTY: ValueId = 0;

/// Values of most requests.
const VALUES: usize = 512;
/// Most values, and bytes of them, of one inspection: memory, too, is bounded.
const MOST_VALUES: usize = 16 << 10;
const MOST_BYTES: usize = 3 << 20;
/// Units of a value beside those of its bytes.
const VALUE: usize = 64;
/// Units of a byte that is transformed, and bytes of memory that it takes meanwhile.
const TRANSFORM: usize = 2;
const TRANSFORM_BYTES: usize = 8;

struct Value {
    start: u32,
    length: u32,
    classes: u32,
    scanned: bool,
    /// Transformations that leave it as it is, a bit for each.
    unchanged: u32,
    /// The last one of its changes.
    change: ChangeId,
}

const _: () = assert!(transform::COUNT <= u32::BITS as usize);

/// What a transformation makes of a value.
struct Change {
    transform: Transform,
    result: ValueId,
    /// Another one of the same value.
    next: ChangeId,
}

/// Index of a change; `NONE` where there is no other.
type ChangeId = u32;
const NONE: ChangeId = u32::MAX;

pub struct Values {
    pub meter: Meter,
    bytes: Vec<u8>,
    values: Vec<Value>,
    changes: Vec<Change>,
    bits: Vec<u64>,
    words: usize,
}

impl Values {
    pub fn new(words: usize, meter: Meter) -> Values {
        // Room for most requests: what grows is copied.
        let mut values = Values {
            meter,
            bytes: Vec::with_capacity(16 << 10),
            values: Vec::with_capacity(VALUES),
            changes: Vec::with_capacity(VALUES),
            bits: Vec::with_capacity(VALUES * words),
            words,
        };
        values.push(b"");
        values
    }

    /// Adds a value; the empty one where the budget or the memory is spent.
    pub fn add(&mut self, bytes: &[u8]) -> ValueId {
        if self.values.len() >= MOST_VALUES || self.bytes.len() + bytes.len() > MOST_BYTES {
            self.meter.spend();
        }
        if !self.meter.charge(VALUE + bytes.len()) {
            return EMPTY;
        }
        self.push(bytes)
    }

    fn push(&mut self, bytes: &[u8]) -> ValueId {
        let start = self.bytes.len() as u32;
        let needed = self.bytes.len() + bytes.len();
        if needed > self.bytes.capacity() {
            self.bytes.reserve_exact(needed.next_power_of_two() - self.bytes.len());
        }
        self.bytes.extend_from_slice(bytes);
        let classes = transform::classes_of(bytes);
        let length = bytes.len() as u32;
        self.values.push(Value { start, length, classes, scanned: false, unchanged: 0, change: NONE });
        self.bits.resize(self.values.len() * self.words, 0);
        (self.values.len() - 1) as ValueId
    }

    pub fn get(&self, id: ValueId) -> &[u8] {
        let value = &self.values[id as usize];
        &self.bytes[value.start as usize..(value.start + value.length) as usize]
    }

    /// Classes of bytes that the value has.
    pub fn classes(&self, id: ValueId) -> u32 {
        self.values[id as usize].classes
    }

    pub fn transform(&mut self, id: ValueId, transform: Transform) -> ValueId {
        let needs = transform::needs(transform);
        if needs != 0 && self.classes(id) & needs == 0 {
            return id;
        }
        let bit = 1 << transform as u32;
        let Value { length, unchanged, change, .. } = self.values[id as usize];
        if unchanged & bit != 0 {
            return id;
        }
        if let Some(result) = self.known_change(change, transform) {
            return result;
        }
        let length = length as usize;
        if !self.meter.charge(TRANSFORM * length) || !self.meter.allows(TRANSFORM_BYTES * length) {
            return id;
        }
        let mut out = Vec::with_capacity(length + 16);
        transform::apply(transform, self.get(id), &mut out);
        if out == self.get(id) {
            self.values[id as usize].unchanged |= bit;
            return id;
        }
        let result = self.add(&out);
        let value = &mut self.values[id as usize];
        self.changes.push(Change { transform, result, next: value.change });
        value.change = (self.changes.len() - 1) as ChangeId;
        result
    }

    fn known_change(&self, last: ChangeId, transform: Transform) -> Option<ValueId> {
        let mut at = last;
        while let Some(change) = self.changes.get(at as usize) {
            if change.transform == transform {
                return Some(change.result);
            }
            at = change.next;
        }
        None
    }

    pub fn transform_all(&mut self, id: ValueId, transforms: &[Transform]) -> ValueId {
        transforms.iter().fold(id, |id, &transform| self.transform(id, transform))
    }

    /// Bits of the patterns that the value has a literal of.
    pub fn scan(&mut self, rules: &RuleSet, id: ValueId) -> &[u64] {
        let from = id as usize * self.words;
        let range = from..from + self.words;
        let value = &mut self.values[id as usize];
        if let (false, Some(scanner)) = (value.scanned, &rules.scanner) {
            value.scanned = true;
            let text = &self.bytes[value.start as usize..(value.start + value.length) as usize];
            scanner.scan(text, &mut self.bits[range.clone()], &self.meter);
        }
        &self.bits[range]
    }

    /// Bytes and number of values.
    pub fn size(&self) -> (usize, usize) {
        (self.bytes.len(), self.values.len())
    }
}
