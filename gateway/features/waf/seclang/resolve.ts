/** Makes a program of parsed files: chains, defaults, removals, updates, jumps. */

import { DiagnosticList, quoted } from './diagnostics.ts';
import { MAX_CHANGES, MAX_DIRECTIVES, MAX_FILES, MAX_LIST } from './limits.ts';
import type {
  Directive,
  Effect,
  ParsedFile,
  Phase,
  Place,
  RuleActions,
  RuleQuery,
  SecLangDiagnostic,
  Settings,
} from './model.ts';
import type { Program, ProgramEffect } from './program.ts';
import {
  type ChainLink,
  mergedActions,
  programRule,
  type RuleDirective,
  type RuleEntry,
  STANDARD_DEFAULTS,
  STANDARD_PHASE,
} from './rule-entry.ts';
import { RuleSets, Selection } from './rule-queries.ts';

export interface Resolution {
  /** Null if there is an error. */
  readonly program: Program | null;
  readonly diagnostics: readonly SecLangDiagnostic[];
}

/** Rules run in the order of `files`; the diagnostics include those of the files. */
export function resolveProgram(files: readonly ParsedFile[]): Resolution {
  const resolver = new Resolver();
  resolver.read(files);
  const program = resolver.finish(files.map(({ name }) => name));
  const diagnostics = [...files.flatMap((file) => file.diagnostics), ...resolver.diagnostics];
  return { program: diagnostics.some(({ severity }) => severity === 'error') ? null : program, diagnostics };
}

interface Marker {
  readonly marker: string;
}

class Resolver {
  readonly #diagnostics = new DiagnosticList();
  readonly #entries: (RuleEntry | Marker)[] = [];
  readonly #byId = new Map<number, RuleEntry>();
  readonly #markers = new Set<string>();
  readonly #defaults = new Map<Phase, RuleActions>();
  #settings: Settings = {};
  /** The rule whose chain goes on. */
  #open: RuleEntry | null = null;
  #file = 0;
  #changes = 0;
  #selection: Selection | null = null;

  read(files: readonly ParsedFile[]): void {
    const count = files.reduce((sum, { directives }) => sum + directives.length, 0);
    const first = { file: files[0]?.name ?? '', line: 1, column: 1 };
    if (files.length > MAX_FILES) return this.#error(first, `more than ${MAX_FILES} files of rules`, 'Join files.');
    if (count > MAX_DIRECTIVES)
      return this.#error(
        first,
        `more than ${MAX_DIRECTIVES} directives`,
        'Remove rules that the project does not need.',
      );
    for (const [index, { directives }] of files.entries()) {
      this.#file = index;
      for (const directive of directives) this.#read(directive);
      this.#closeChain();
    }
  }

  get diagnostics(): readonly SecLangDiagnostic[] {
    return this.#diagnostics.found;
  }

  #error(place: Place, message: string, hint: string): void {
    this.#diagnostics.add('error', place, message, hint);
  }

  #warning(place: Place, message: string, hint: string): void {
    this.#diagnostics.add('warning', place, message, hint);
  }

  #read(directive: Directive): void {
    if (directive.kind === 'rule') return this.#rule(directive);
    this.#closeChain();
    switch (directive.kind) {
      case 'marker':
        this.#entries.push({ marker: directive.name });
        this.#markers.add(directive.name);
        return;
      case 'defaults':
        this.#defaults.set(directive.actions.phase ?? STANDARD_PHASE, directive.actions);
        return;
      case 'settings':
        this.#settings = mergedSettings(this.#settings, directive.settings);
        return;
      case 'remove':
        return this.#forEach(directive, 1, (entry) => {
          entry.removed = true;
          this.#byId.delete(entry.id);
        });
      case 'updateTargets':
        return this.#updateTargets(directive);
      case 'updateActions':
        return this.#updateActions(directive);
    }
  }

  #updateTargets(directive: Extract<Directive, { kind: 'updateTargets' }>): void {
    const { targets, exclusions } = directive.targets;
    this.#forEach(directive, targets.length + exclusions.length, ({ links: [link] }) => {
      this.#append(link!.targets, targets, directive.place);
      this.#append(link!.exclusions, exclusions, directive.place);
    });
  }

  #updateActions(directive: Extract<Directive, { kind: 'updateActions' }>): void {
    const { tags, effects, transformations } = directive.actions;
    const size = 1 + tags.length + effects.length + transformations.length;
    this.#forEach(directive, size, ({ links: [link] }) => {
      const merged = mergedActions(link!.actions, directive.actions);
      const longest = Math.max(merged.tags.length, merged.effects.length, merged.transformations.length);
      // Rules that grow without end would cost the square of their updates.
      this.#changes += longest;
      if (longest <= MAX_LIST) link!.actions = merged;
      else this.#error(directive.place, `the rule would have more than ${MAX_LIST} actions`, 'Write another rule.');
    });
    // Tags and messages may be others now.
    this.#selection = null;
  }

  #append<T>(list: T[], more: readonly T[], place: Place): void {
    if (list.length + more.length <= MAX_LIST) list.push(...more);
    else
      this.#error(
        place,
        `the rule would have more than ${MAX_LIST} targets`,
        'Exclude by a pattern, or remove the rule.',
      );
  }

  #rule(directive: RuleDirective): void {
    const { place, condition, actions } = directive;
    const link: ChainLink = {
      place,
      condition,
      actions,
      targets: [...(condition?.targets.targets ?? [])],
      exclusions: [...(condition?.targets.exclusions ?? [])],
    };
    const starter = this.#open;
    if (starter === null) this.#open = this.#starter(link);
    else this.#chained(starter, link);
    if (actions.chain === undefined) this.#open = null;
  }

  #starter(link: ChainLink): RuleEntry {
    const { id, phase = STANDARD_PHASE } = link.actions;
    const defaults = this.#defaults.get(phase) ?? STANDARD_DEFAULTS;
    const entry = { id: id ?? 0, file: this.#file, links: [link], defaults, removed: false };
    this.#entries.push(entry);
    this.#selection = null;
    if (id === undefined) {
      this.#error(link.place, 'the rule has no id', 'Add one, as in id:1001; the Core Rule Set uses 900000 to 999999.');
      return entry;
    }
    const other = this.#byId.get(id);
    if (other !== undefined) {
      const { file, line } = other.links[0]!.place;
      this.#error(
        link.place,
        `another rule has the id ${id}: ${file}, line ${line}`,
        `Change the id, or replace the other rule by SecRuleRemoveById ${id} before this one.`,
      );
      return entry;
    }
    this.#byId.set(id, entry);
    return entry;
  }

  #chained(starter: RuleEntry, link: ChainLink): void {
    const wrong = CHAIN_STARTER_ONLY.find((key) => link.actions[key] !== undefined);
    if (wrong !== undefined)
      this.#error(link.place, `a chained rule cannot set ${wrong}`, 'Write it in the first rule of the chain.');
    if (link.actions.tags.length > 0)
      this.#error(link.place, 'a chained rule cannot set tag', 'Write it in the first rule of the chain.');
    starter.links.push(link);
  }

  #closeChain(): void {
    if (this.#open === null) return;
    this.#error(
      this.#open.links.at(-1)!.place,
      'the chain has no next rule',
      'Put the next rule of the chain directly behind this one, or remove chain.',
    );
    this.#open = null;
  }

  /** Applies a change to the rules before a directive. `size`: its cost for each rule. */
  #forEach(
    { rules, place }: { readonly rules: readonly RuleQuery[]; readonly place: Place },
    size: number,
    change: (entry: RuleEntry) => void,
  ): void {
    for (const query of rules) {
      const found = this.#find(query);
      if (found.length === 0) this.#warning(place, `no rule before this line has ${queryText(query)}`, hintFor(query));
      this.#changes += found.length * size;
      // An error for the whole program follows.
      if (this.#changes > MAX_CHANGES) return;
      for (const entry of found) change(entry);
    }
  }

  #find(query: RuleQuery): readonly RuleEntry[] {
    if (query.by === 'id' && query.from === query.to) {
      const entry = this.#byId.get(query.from);
      return entry === undefined ? [] : [entry];
    }
    if (this.#changes > MAX_CHANGES) return [];
    this.#selection ??= new Selection(this.#rules());
    const found = this.#selection.find(query);
    this.#changes += found.length;
    return found.filter(({ removed }) => !removed);
  }

  #rules(): readonly RuleEntry[] {
    this.#changes += this.#entries.length;
    return this.#entries.filter((entry): entry is RuleEntry => 'links' in entry && !entry.removed);
  }

  finish(files: readonly string[]): Program {
    const entries = this.#entries.filter((entry) => !('links' in entry) || !entry.removed);
    const rules = entries.filter((entry): entry is RuleEntry => 'links' in entry);
    const jumps = this.#jumps(entries);
    const sets = new RuleSets(rules);
    const program: Program = {
      files,
      settings: this.#settings,
      rules: rules.map((entry, index) =>
        programRule(entry, jumps[index] ?? null, (effect) => this.#effect(effect, entry, sets)),
      ),
    };
    if (this.#changes + sets.changes > MAX_CHANGES)
      this.#error(
        rules[0]?.links[0]?.place ?? { file: files[0] ?? '', line: 1, column: 1 },
        `directives and ctl actions select more than ${MAX_CHANGES} rules together`,
        'Remove rules by id, or leave out the files that hold them.',
      );
    return program;
  }

  #effect(effect: Effect, entry: RuleEntry, sets: RuleSets): ProgramEffect {
    if (effect.kind === 'setvar' || effect.kind === 'switch') return effect;
    const rules = sets.rangesOf(effect.rules);
    if (rules.length === 0)
      this.#warning(entry.links[0]!.place, `ctl: no rule has ${queryText(effect.rules)}`, hintFor(effect.rules));
    return effect.kind === 'removeRules'
      ? { kind: effect.kind, rules }
      : { kind: effect.kind, rules, target: effect.target };
  }

  /** Indexes of rules to go on with, in the order of rules. */
  #jumps(entries: readonly (RuleEntry | Marker)[]): readonly (number | null)[] {
    const jumps: (number | null)[] = [];
    /** By the name of a marker or the id of a rule: the nearest one behind. */
    const behind = new Map<string, number>();
    const laterOfPhase = new Map<Phase, number[]>();
    let index = entries.filter((entry) => 'links' in entry).length;
    const last = index;
    for (const entry of entries.toReversed()) {
      if (!('links' in entry)) {
        behind.set(entry.marker, index);
        continue;
      }
      index--;
      const { skip, skipAfter, phase = STANDARD_PHASE } = entry.links[0]!.actions;
      const later = laterOfPhase.get(phase) ?? [];
      jumps[index] = skip === undefined ? null : (later[later.length - 1 - skip] ?? last);
      if (skipAfter !== undefined) jumps[index] = this.#target(skipAfter, entry, behind);
      laterOfPhase.set(phase, later);
      later.push(index);
      behind.set(String(entry.id), index + 1);
    }
    return jumps;
  }

  #target(name: string, entry: RuleEntry, behind: ReadonlyMap<string, number>): number | null {
    const target = behind.get(name);
    if (target !== undefined) return target;
    const { place } = entry.links[0]!;
    if (this.#markers.has(name))
      this.#error(place, `skipAfter jumps back to the marker ${quoted(name)}`, 'Put the SecMarker behind the rule.');
    else
      this.#error(
        place,
        `there is no marker ${quoted(name)} for skipAfter`,
        `Add SecMarker ${quoted(name)} behind the rule.`,
      );
    return null;
  }
}

const CHAIN_STARTER_ONLY = [
  'id',
  'phase',
  'disruptive',
  'status',
  'skip',
  'skipAfter',
  'severity',
  'ver',
  'rev',
] as const satisfies readonly (keyof RuleActions)[];

function queryText(query: RuleQuery): string {
  if (query.by !== 'id') return `the ${query.by} ${quoted(query.text)}`;
  return query.from === query.to ? `the id ${query.from}` : `an id from ${query.from} to ${query.to}`;
}

function hintFor({ by }: RuleQuery): string {
  if (by === 'id') return 'Correct the id, put the directive behind the rule, or remove it.';
  return `Correct the ${by}, which is compared whole and not as a pattern; the directive must stand behind the rules.`;
}

function mergedSettings(
  before: Settings,
  { componentSignatures, responseBodyMimeTypes, ...single }: Settings,
): Settings {
  const merged = { ...before, ...single };
  if (componentSignatures !== undefined)
    return { ...merged, componentSignatures: [...(before.componentSignatures ?? []), ...componentSignatures] };
  if (responseBodyMimeTypes === undefined) return merged;
  // An empty list clears the earlier ones.
  const earlier = responseBodyMimeTypes.length === 0 ? [] : (before.responseBodyMimeTypes ?? []);
  return { ...merged, responseBodyMimeTypes: [...earlier, ...responseBodyMimeTypes] };
}
