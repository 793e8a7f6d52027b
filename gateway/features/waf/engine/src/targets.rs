//! The values that a target of a rule selects.

use crate::proofs::Proved;
use crate::rules::*;
use crate::transaction::Transaction;
use crate::values::{EMPTY, ValueId};

#[derive(Clone, Copy)]
pub struct Entry {
    pub key: ValueId,
    pub value: ValueId,
    pub proved: Proved,
}

/// A value that a rule looks at.
#[derive(Clone, Copy)]
pub struct Item {
    pub variable: Variable,
    /// Where the value is from: of ARGS it is ARGS_GET or ARGS_POST.
    pub collection: Variable,
    pub key: ValueId,
    pub value: ValueId,
}

/// Units of a name of TX, beside those of its bytes.
const NAME: usize = 32;

/// Members of RULE.
pub const RULE_MEMBERS: [&[u8]; 6] = [b"id", b"rev", b"ver", b"severity", b"msg", b"logdata"];

impl<'a> Transaction<'a> {
    /// Appends the values of a target, without those that the rule does not look at. `omits`: without what is proved, too.
    pub fn gather(&mut self, target: &Target, removed: &[&RemovedTarget], omits: bool, items: &mut Vec<Item>) {
        let from = items.len();
        self.gather_all(target, omits && target.may_omit(), items);
        let meter = &self.values.meter;
        meter.charge(1 + items.len() - from);
        let mut kept = from;
        for at in from..items.len() {
            let key = self.values.get(items[at].key);
            let excepted = target.except.iter().any(|except| except.matches(key, meter));
            let removes = |other: &&RemovedTarget| {
                let variable = if other.of_collection { items[at].collection } else { target.variable };
                other.variable == variable && other.key.as_ref().is_none_or(|name| name.matches(key, meter))
            };
            if !excepted && !removed.iter().any(removes) {
                items[kept] = items[at];
                kept += 1;
            }
        }
        items.truncate(kept);
        if target.count {
            let value = self.values.add((kept - from).to_string().as_bytes());
            items.truncate(from);
            items.push(Item { variable: target.variable, collection: target.variable, key: EMPTY, value });
        }
    }

    fn gather_all(&mut self, target: &Target, omits: bool, items: &mut Vec<Item>) {
        let variable = target.variable;
        let key = target.key.as_ref();
        match variable {
            Variable::Tx => self.gather_tx(key, items),
            Variable::Rule => self.gather_rule(key, items),
            Variable::ArgsCombinedSize => {
                let value = self.values.add(self.combined_size().to_string().as_bytes());
                items.push(Item { variable, collection: variable, key: EMPTY, value });
            }
            _ => {
                let sources = variable.sources();
                if sources.is_empty() {
                    let value = if omits { self.unproved_single(variable) } else { Some(self.singles[variable as usize]) };
                    items.extend(value.map(|value| Item { variable, collection: variable, key: EMPTY, value }));
                }
                for &source in sources {
                    self.gather_entries(target, source, omits, items);
                }
            }
        }
    }

    fn gather_entries(&self, target: &Target, (collection, names): (Variable, bool), omits: bool, items: &mut Vec<Item>) {
        let Target { variable, ref key, .. } = *target;
        let entries = &self.collections[collection as usize];
        self.values.meter.charge(entries.len());
        let is_left = |entry: &&Entry| !(omits && if names { entry.proved.name } else { entry.proved.value });
        for entry in entries.iter().filter(is_left) {
            if key.as_ref().is_none_or(|key| key.matches(self.values.get(entry.key), &self.values.meter)) {
                items.push(Item { variable, collection, key: entry.key, value: if names { entry.key } else { entry.value } });
            }
        }
    }

    /// Returns the part of a single value that the description does not prove, or None if it proves all of it.
    fn unproved_single(&self, variable: Variable) -> Option<ValueId> {
        match (variable, self.unproved_path) {
            (Variable::RequestFilename, Some(path)) => Some(path).filter(|&path| path != EMPTY),
            (Variable::RequestBasename, Some(_)) if self.options.proofs.ends_with_literal() => None,
            _ => Some(self.singles[variable as usize]),
        }
    }

    fn gather_tx(&mut self, key: Option<&Key>, items: &mut Vec<Item>) {
        let variable = Variable::Tx;
        if let Some(Key::Name(name)) = key {
            if let Some(value) = self.load_tx(name) {
                let key = self.values.add(name);
                items.push(Item { variable, collection: variable, key, value });
            }
            return;
        }
        self.values.meter.charge(self.rules.slot_count() + self.other_tx.len());
        let mut found: Vec<(Vec<u8>, ValueId)> = self.other_tx.iter().map(|(name, id)| (name.clone(), *id)).collect();
        for slot in 0..CAPTURES {
            if let Some(id) = self.tx[slot] {
                found.push((slot.to_string().into_bytes(), id));
            }
        }
        for (name, slot) in self.rules.slot_names() {
            if let Some(id) = self.tx[slot as usize] {
                found.push((name.to_vec(), id));
            }
        }
        for (name, value) in found {
            if key.is_none_or(|key| key.matches(&name, &self.values.meter)) {
                let key = self.values.add(&name);
                items.push(Item { variable, collection: variable, key, value });
            }
        }
    }

    fn gather_rule(&mut self, key: Option<&Key>, items: &mut Vec<Item>) {
        for name in RULE_MEMBERS {
            if key.is_none_or(|key| key.matches(name, &self.values.meter)) {
                let mut text = Vec::new();
                self.push_rule_member(name, &mut text, false);
                let (key, value) = (self.values.add(name), self.values.add(&text));
                items.push(Item { variable: Variable::Rule, collection: Variable::Rule, key, value });
            }
        }
    }

    /// Bytes of names and values of all arguments.
    pub fn combined_size(&self) -> usize {
        let collections = [Variable::ArgsGet, Variable::ArgsPost];
        self.values.meter.charge(collections.iter().map(|&of| self.collections[of as usize].len()).sum());
        let entries = collections.iter().flat_map(|&of| &self.collections[of as usize]);
        entries.map(|entry| self.values.get(entry.key).len() + self.values.get(entry.value).len()).sum()
    }

    /// Fills in the values of a text.
    pub fn expand(&self, text: &Text) -> Vec<u8> {
        let mut out = Vec::new();
        self.push_text(text, &mut out, false);
        out
    }

    /// `nested`: the text is a message of the rule itself, in which messages have none.
    fn push_text(&self, text: &Text, out: &mut Vec<u8>, nested: bool) {
        for token in &text.0 {
            match token {
                Token::Text(text) => out.extend_from_slice(text),
                Token::Tx(slot) => {
                    if let Some(id) = self.tx[*slot as usize] {
                        out.extend_from_slice(self.values.get(id));
                    }
                }
                Token::Variable(variable, key) => self.push_variable(*variable, key.as_deref(), out, nested),
            }
            if !self.values.meter.charge(out.len()) {
                return;
            }
        }
    }

    /// Appends the first value of a variable, or of its member.
    fn push_variable(&self, variable: Variable, name: Option<&[u8]>, out: &mut Vec<u8>, nested: bool) {
        match (variable, name) {
            (Variable::Rule, Some(name)) => self.push_rule_member(name, out, nested),
            (Variable::ArgsCombinedSize, _) => out.extend_from_slice(self.combined_size().to_string().as_bytes()),
            (Variable::Tx | Variable::Rule, None) => {}
            _ if variable.sources().is_empty() => out.extend_from_slice(self.single(variable)),
            _ => {
                for &(collection, names) in variable.sources() {
                    let entries = &self.collections[collection as usize];
                    self.values.meter.charge(entries.len());
                    let is_named = |entry: &&Entry| name.is_none_or(|name| self.values.get(entry.key).eq_ignore_ascii_case(name));
                    if let Some(entry) = entries.iter().find(is_named) {
                        out.extend_from_slice(self.values.get(if names { entry.key } else { entry.value }));
                        return;
                    }
                }
            }
        }
    }

    fn push_rule_member(&self, name: &[u8], out: &mut Vec<u8>, nested: bool) {
        let Some((rule, link)) = self.current else { return };
        let text = match name {
            b"msg" => link.message.as_ref(),
            b"logdata" => link.data.as_ref(),
            _ => None,
        };
        match (name, text) {
            (_, Some(text)) if !nested => self.push_text(text, out, true),
            (b"id", _) => out.extend_from_slice(rule.id.to_string().as_bytes()),
            (b"severity", _) => out.extend_from_slice(rule.severity.unwrap_or(0).to_string().as_bytes()),
            (b"rev", _) => out.extend_from_slice(rule.revision.as_deref().unwrap_or_default()),
            (b"ver", _) => out.extend_from_slice(rule.version.as_deref().unwrap_or_default()),
            _ => {}
        }
    }

    pub fn load_tx(&self, key: &[u8]) -> Option<ValueId> {
        match self.rules.known_slot(key) {
            Some(slot) => self.tx[slot as usize],
            None => self.other_tx.get(key).copied(),
        }
    }

    pub fn store_tx(&mut self, key: &[u8], id: Option<ValueId>) {
        if let Some(slot) = self.rules.known_slot(key) {
            self.tx[slot as usize] = id;
            return;
        }
        self.values.meter.charge(NAME + key.len());
        match id {
            Some(id) => drop(self.other_tx.insert(key.to_vec(), id)),
            None => drop(self.other_tx.remove(key)),
        }
    }
}
