/**
 * The parts of SecLang, the rule language of ModSecurity. Every string of the model is a byte string: one character,
 * from U+0000 to U+00FF, for each byte of the file, because rules inspect bytes and not characters.
 */

import type { OperatorName, Switch, TransformationName, VariableName } from './vocabulary.ts';

/** Lines and columns count from 1, columns in characters. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface SecLangDiagnostic extends Place {
  /** A file with errors makes no program. */
  readonly severity: 'error' | 'warning';
  /** The fault, in one line. */
  readonly message: string;
  /** The remedy. */
  readonly hint: string;
}

/** 1: request headers, 2: request body, 3: response headers, 4: response body, 5: logging. */
export type Phase = 1 | 2 | 3 | 4 | 5;

/** `%{TX.0}`: the first value of a variable, or of a member of a collection. */
export interface MacroPart {
  readonly variable: VariableName;
  /** Name of the member, as in the file; null for the whole variable. */
  readonly key: string | null;
}

/** Text with macros, in parts. */
export type Text = readonly (string | MacroPart)[];

/** Selects members of a collection; names and patterns ignore the case of ASCII letters. */
export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  /** A pattern in the syntax of `patterns.ts`. */
  | { readonly kind: 'pattern'; readonly pattern: string };

export interface Target {
  readonly variable: VariableName;
  /** Null selects the whole variable. */
  readonly selector: Selector | null;
  /** `&`: the number of selected values. */
  readonly count: boolean;
}

/** `!ARGS:name`: leaves values out of all targets of the same variable, wherever it stands in the list. */
export interface Exclusion {
  readonly variable: VariableName;
  readonly selector: Selector | null;
}

export interface TargetList {
  readonly targets: readonly Target[];
  readonly exclusions: readonly Exclusion[];
}

/** Argument of an operator, by the kind of the operator. */
export type OperatorArgument =
  | { readonly kind: 'none' }
  /** A pattern in the syntax of `patterns.ts`. */
  | { readonly kind: 'pattern'; readonly pattern: string }
  | { readonly kind: 'text'; readonly text: Text }
  /** Lower-case phrases, of which one must occur; matching ignores the case of ASCII letters. */
  | { readonly kind: 'phrases'; readonly phrases: readonly string[] }
  /** Ranges of allowed bytes, both ends included, in ascending order and apart from each other. */
  | { readonly kind: 'bytes'; readonly ranges: readonly (readonly [number, number])[] }
  /** Networks such as `10.0.0.0/8` or `::1/128`. */
  | { readonly kind: 'networks'; readonly networks: readonly string[] };

export interface Operator {
  readonly name: OperatorName;
  readonly negated: boolean;
  readonly argument: OperatorArgument;
}

export type Disruptive =
  | { readonly kind: 'pass' }
  /** The default action of the phase. */
  | { readonly kind: 'block' }
  | { readonly kind: 'deny' }
  | { readonly kind: 'drop' }
  /** No more rules run for the transaction. */
  | { readonly kind: 'allow' }
  /** No more rules of this phase run. */
  | { readonly kind: 'allowPhase' }
  /** No more rules of the phases 1 and 2 run. */
  | { readonly kind: 'allowRequest' }
  | { readonly kind: 'redirect'; readonly location: Text };

/** Rules by one of their properties: `from` and `to` are included. */
export type RuleQuery =
  | { readonly by: 'id'; readonly from: number; readonly to: number }
  | { readonly by: 'tag' | 'msg'; readonly text: string };

/** Changes that a matching rule makes, in the order of the file. */
export type Effect =
  | {
      readonly kind: 'setvar';
      /** Name of the member of TX. */
      readonly name: Text;
      readonly operation: 'set' | 'add' | 'subtract' | 'unset';
      /** Empty for `unset`. */
      readonly value: Text;
    }
  | { readonly kind: 'switch'; readonly name: Switch; readonly value: string }
  | { readonly kind: 'removeRules'; readonly rules: RuleQuery }
  | { readonly kind: 'removeTarget'; readonly rules: RuleQuery; readonly target: Exclusion };

/** Actions of a rule, folded: of actions that exclude each other the last one holds. */
export interface RuleActions {
  readonly id?: number;
  readonly phase?: Phase;
  readonly disruptive?: Disruptive;
  readonly status?: number;
  readonly log?: boolean;
  readonly audit?: boolean;
  readonly msg?: Text;
  readonly logdata?: Text;
  /** From 0 (emergency) to 7 (debug). */
  readonly severity?: number;
  readonly ver?: string;
  readonly rev?: string;
  readonly chain?: true;
  readonly skip?: number;
  readonly skipAfter?: string;
  readonly capture?: true;
  readonly multiMatch?: true;
  readonly tags: readonly string[];
  readonly transformations: readonly TransformationName[];
  /** `t:none`: transformations of an earlier list do not hold. */
  readonly resetsTransformations: boolean;
  readonly effects: readonly Effect[];
}

export interface Settings {
  readonly ruleEngine?: 'On' | 'Off' | 'DetectionOnly';
  readonly auditEngine?: 'On' | 'Off' | 'RelevantOnly';
  /** A pattern in the syntax of `patterns.ts`. */
  readonly auditRelevantStatus?: string;
  readonly requestBodyAccess?: boolean;
  /** Bytes. */
  readonly requestBodyLimit?: number;
  /** Bytes, without files. */
  readonly requestBodyNoFilesLimit?: number;
  readonly requestBodyLimitAction?: 'Reject' | 'ProcessPartial';
  readonly requestBodyJsonDepthLimit?: number;
  readonly argumentsLimit?: number;
  readonly responseBodyAccess?: boolean;
  /** Bytes. */
  readonly responseBodyLimit?: number;
  readonly responseBodyLimitAction?: 'Reject' | 'ProcessPartial';
  readonly responseBodyMimeTypes?: readonly string[];
  readonly componentSignatures?: readonly string[];
}

/** A directive of a file, parsed by itself. */
export type Directive = { readonly place: Place } & (
  | {
      readonly kind: 'rule';
      /** Null for `SecAction`, whose actions always apply. */
      readonly condition: { readonly targets: TargetList; readonly operator: Operator } | null;
      readonly actions: RuleActions;
    }
  | { readonly kind: 'marker'; readonly name: string }
  | { readonly kind: 'defaults'; readonly actions: RuleActions }
  | { readonly kind: 'settings'; readonly settings: Settings }
  | { readonly kind: 'remove'; readonly rules: readonly RuleQuery[] }
  | { readonly kind: 'updateTargets'; readonly rules: readonly RuleQuery[]; readonly targets: TargetList }
  | { readonly kind: 'updateActions'; readonly rules: readonly RuleQuery[]; readonly actions: RuleActions }
);

export interface ParsedFile {
  readonly name: string;
  readonly directives: readonly Directive[];
  readonly diagnostics: readonly SecLangDiagnostic[];
}
