/**
 * Judges parts of a document that no route needs as if one did (docs/decisions.md#one-verdict): whether a document is
 * right does not depend on its dispatchers, nor on which of its responses are validated.
 */
import type { Parameter } from '../../artifact/format.ts';
import { Diagnostics } from '../../spec/diagnostic.ts';
import type { Documents } from '../../spec/documents.ts';
import type { DeclaredOperation } from '../../spec/operations.ts';
import { SchemaTable } from '../schemas/schema-table.ts';
import { channelInputsOf } from './channel-inputs.ts';
import { requestBodyOf } from './content.ts';
import { type Deps, parametersOf } from './parameters.ts';
import { responsesOf } from './responses.ts';

export class DocumentJudge {
  readonly #diagnostics: Diagnostics;
  /** Collects diagnostics first: warnings of unenforced parts are of no use. */
  readonly #found = new Diagnostics({ production: false });
  readonly #schemas: SchemaTable;
  readonly #deps: Deps;

  constructor(documents: Documents, diagnostics: Diagnostics, nameOf: (file: string) => string) {
    this.#diagnostics = diagnostics;
    this.#schemas = new SchemaTable(documents, this.#found, nameOf);
    this.#deps = { documents, diagnostics: this.#found, schemas: this.#schemas };
  }

  /** Diagnostics that collect findings. */
  get found(): Diagnostics {
    return this.#found;
  }

  /** An operation that is not served. Returns its parameters. */
  operation(declared: DeclaredOperation): readonly Parameter[] {
    this.responses(declared);
    if (declared.channel) return channelInputsOf(declared, declared.channel, this.#deps).parameters;
    requestBodyOf(declared, this.#deps);
    return parametersOf(declared, this.#deps);
  }

  /** Judges an operation's responses, if its route does not. */
  responses(declared: DeclaredOperation): void {
    responsesOf(declared, this.#deps, true);
  }

  /** Reports the findings. */
  finish(): void {
    this.#schemas.finish();
    for (const error of this.#found.errors) this.#diagnostics.addFound(error);
  }
}
