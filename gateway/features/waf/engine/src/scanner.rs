//! Finds the literals of all patterns and phrases in one pass over a text.

use crate::meter::Meter;
use crate::pattern::Pattern;
use crate::scratch;
use aho_corasick::{
    Anchored, MatchKind, PatternID,
    automaton::Automaton,
    nfa::contiguous::{Builder, NFA},
};
use std::collections::BTreeMap;

pub struct Scanner {
    nfa: NFA,
    /// Bits that literals set, those of the first one first.
    bits: Vec<u16>,
    /// Place in `bits` behind those of a literal, by its number.
    ends: Vec<u32>,
    /// Words of 64 bits that `scan` sets bits in.
    pub words: usize,
}

impl Scanner {
    /// The bits are those of the patterns, then those of the lists of phrases.
    pub fn new(patterns: &[Pattern], phrases: &[Vec<Vec<u8>>]) -> Result<Scanner, String> {
        let count = patterns.len() + phrases.len();
        if count > usize::from(u16::MAX) {
            return Err("too many patterns and lists of phrases".to_owned());
        }
        let mut texts: BTreeMap<&[u8], Vec<u16>> = BTreeMap::new();
        let literals = patterns.iter().map(|pattern| pattern.literals.as_deref().unwrap_or_default());
        for (bit, list) in literals.chain(phrases.iter().map(Vec::as_slice)).enumerate() {
            for text in list {
                texts.entry(text).or_default().push(bit as u16);
            }
        }
        let build = || Builder::new().match_kind(MatchKind::Standard).prefilter(false).build(texts.keys());
        let nfa = scratch(build).map_err(|error| error.to_string())?;
        let mut bits = Vec::with_capacity(texts.values().map(Vec::len).sum());
        let mut ends = Vec::with_capacity(texts.len());
        for of in texts.into_values() {
            bits.extend(of);
            ends.push(bits.len() as u32);
        }
        Ok(Scanner { nfa, bits, ends, words: count.div_ceil(64) })
    }

    fn bits_of(&self, literal: PatternID) -> &[u16] {
        let number = literal.as_usize();
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bits[start as usize..self.ends[number] as usize]
    }

    /// Calls back with each literal and where it ends.
    fn each(&self, text: &[u8], mut found: impl FnMut(PatternID, usize)) {
        let Ok(mut state) = self.nfa.start_state(Anchored::No) else { return };
        for (at, &byte) in text.iter().enumerate() {
            state = self.nfa.next_state(Anchored::No, state, byte.to_ascii_lowercase());
            if self.nfa.is_special(state) && self.nfa.is_match(state) {
                for index in 0..self.nfa.match_len(state) {
                    found(self.nfa.match_pattern(state, index), at + 1);
                }
            }
        }
    }

    /// Sets a bit for each pattern of which the text has a literal, and for each list of which it has a phrase.
    pub fn scan(&self, text: &[u8], bits: &mut [u64], meter: &Meter) {
        if !meter.charge(SCAN * text.len()) {
            return;
        }
        let mut matches = 0;
        self.each(text, |literal, _| {
            let of = self.bits_of(literal);
            matches += of.len();
            for &bit in of {
                bits[usize::from(bit) / 64] |= 1 << (bit % 64);
            }
        });
        meter.charge(matches);
    }

    /// Places of the phrases of a list, apart from each other: the longest where several begin. At most `most`, and none
    /// behind the first thousands.
    pub fn phrases(&self, text: &[u8], bit: usize, most: usize, meter: &Meter) -> Vec<(usize, usize)> {
        if !meter.charge(SCAN * text.len()) {
            return Vec::new();
        }
        let mut places = Vec::new();
        self.each(text, |literal, end| {
            let is_room = places.len() < MOST_PLACES;
            if is_room && self.bits_of(literal).iter().any(|&of| usize::from(of) == bit) {
                places.push((end - self.nfa.pattern_len(literal), end));
            }
        });
        if !meter.charge(SORT * places.len()) {
            return Vec::new();
        }
        places.sort_unstable_by_key(|&(start, end)| (start, std::cmp::Reverse(end)));
        let mut behind = 0;
        places.retain(|&(start, end)| {
            let apart = start >= behind;
            if apart {
                behind = end;
            }
            apart
        });
        places.truncate(most);
        places
    }

    /// Bytes, and number of literals.
    pub fn facts(&self) -> (usize, usize) {
        (self.nfa.memory_usage(), self.ends.len())
    }
}

/// Units of a byte that is scanned, and of a place that is sorted.
const SCAN: usize = 2;
const SORT: usize = 16;
/// Places that are sorted.
const MOST_PLACES: usize = 4096;
