/** Messages between a gateway and its validation helpers (docs/decisions.md#validation-in-helpers). */
import type { Content, Parameter, RoutesFile } from '../../artifact/format.ts';
import type { HeaderList } from '../../exchange.ts';
import type { ProblemError } from '../../problems.ts';

/** Source of the schemas of one artifact. */
export interface SchemaTable {
  readonly schemas: RoutesFile['schemas'];
  /** Report all errors of a value, not the first only. */
  readonly verbose: boolean;
  /** Steps of patterns for a request (`--max-pattern-steps`). */
  readonly maxSteps: number;
}

/** Repeated members of an object are either refused, or the last one counts. */
export type Repeats = 'refused' | 'last';

/** Work to be compiled before a value is validated. */
interface Prepared {
  /** Tells it from all else that is compiled from the same schemas. */
  readonly prepares: string;
  /** The work may take long. */
  readonly isHeavy: boolean;
}

export type Work = Prepared & (ContentWork | ParametersWork);

export interface ContentWork {
  readonly kind: 'content';
  readonly content: Content;
  readonly repeats: Repeats;
  readonly contentType: string;
  readonly body: Uint8Array;
  /** Steps that the request has taken before. */
  readonly usedSteps: number;
}

export interface ParametersWork {
  readonly kind: 'parameters';
  readonly parameters: readonly Parameter[];
  /** The template. */
  readonly path: string;
  /** As they were sent. */
  readonly pathParameters: readonly string[];
  readonly query: string | undefined;
  readonly headers: HeaderList;
  /** Report every error, not the first only. */
  readonly all: boolean;
}

/** Why a value was refused; `steps`: it takes more than a request may. */
export type Fault = { readonly kind: 'invalid'; readonly errors: readonly ProblemError[] } | { readonly kind: 'steps' };

export type ToHelper =
  | { readonly type: 'table'; readonly table: number; readonly given: SchemaTable }
  | { readonly type: 'forget'; readonly table: number }
  | { readonly type: 'work'; readonly table: number; readonly work: Work };

export type FromHelper =
  | { readonly type: 'ready' }
  /** Schemas are compiled, and validation begins. `cpuMs`: CPU time of the process until now. */
  | { readonly type: 'begun'; readonly cpuMs: number }
  | { readonly type: 'done'; readonly fault: Fault | null };
