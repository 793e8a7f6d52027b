/** The resolved rules of a project: what an engine runs. */

import type { Disruptive, Exclusion, Operator, Phase, Settings, Target, Text } from './model.ts';
import type { Switch, TransformationName } from './vocabulary.ts';

/** Rules of the program by their index, `from` and `to` included, in ascending order. */
export type RuleRanges = readonly (readonly [from: number, to: number])[];

export type ProgramEffect =
  | {
      readonly kind: 'setvar';
      readonly name: Text;
      readonly operation: 'set' | 'add' | 'subtract' | 'unset';
      readonly value: Text;
    }
  | { readonly kind: 'switch'; readonly name: Switch; readonly value: string }
  | { readonly kind: 'removeRules'; readonly rules: RuleRanges }
  | { readonly kind: 'removeTarget'; readonly rules: RuleRanges; readonly target: Exclusion };

/** A condition of a rule; the rule matches if all links of its chain match, one after the other. */
export interface Link {
  readonly line: number;
  /** Empty, with a null operator, for SecAction, which always matches. */
  readonly targets: readonly Target[];
  readonly exclusions: readonly Exclusion[];
  readonly operator: Operator | null;
  readonly transformations: readonly TransformationName[];
  readonly multiMatch: boolean;
  readonly capture: boolean;
  readonly msg: Text | null;
  readonly logdata: Text | null;
  /** Made as soon as this link matches, whether or not the next ones do. */
  readonly effects: readonly ProgramEffect[];
}

export interface ProgramRule {
  readonly id: number;
  readonly phase: Phase;
  /** Index in `files` of the program. */
  readonly file: number;
  /** At least one. */
  readonly links: readonly Link[];
  /** Never `block`: the default action of the phase stands in its place. */
  readonly disruptive: Disruptive;
  /** Of `deny` and `redirect`. */
  readonly status: number;
  readonly log: boolean;
  readonly audit: boolean;
  readonly severity: number | null;
  readonly ver: string | null;
  readonly rev: string | null;
  readonly tags: readonly string[];
  /**
   * Index of the rule to go on with in this phase if the rule matches, from `skip` or `skipAfter`; past the last rule
   * the phase ends. Null: with the next one.
   */
  readonly jump: number | null;
}

export interface Program {
  /** Names of the files, for messages. */
  readonly files: readonly string[];
  readonly settings: Settings;
  /** In the order of the files; an engine takes those of its phase. */
  readonly rules: readonly ProgramRule[];
}
