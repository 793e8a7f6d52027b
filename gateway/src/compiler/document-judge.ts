/**
 * Judges parts of a document that no route needs as if one did (docs/decisions.md#one-verdict): whether a document is
 * right does not depend on its dispatchers, nor on which of its responses are validated.
 */
import { Diagnostics } from '../spec/diagnostic.ts';
import type { Documents } from '../spec/documents.ts';
import type { DeclaredOperation } from '../spec/operations.ts';
import { channelInputsOf } from './channel-inputs.ts';
import { requestBodyOf } from './content.ts';
import { type Deps, parametersOf } from './parameters.ts';
import { responsesOf } from './responses.ts';
import { SchemaTable } from './schema-table.ts';

export class DocumentJudge {
  readonly #diagnostics: Diagnostics;
  /** What is found goes here first: warnings of what is not enforced are of no use. */
  readonly #found = new Diagnostics({ production: false });
  readonly #schemas: SchemaTable;
  readonly #deps: Deps;

  constructor(documents: Documents, diagnostics: Diagnostics, nameOf: (file: string) => string) {
    this.#diagnostics = diagnostics;
    this.#schemas = new SchemaTable(documents, this.#found, nameOf);
    this.#deps = { documents, diagnostics: this.#found, schemas: this.#schemas };
  }

  /** An operation that is not served. */
  operation(declared: DeclaredOperation): void {
    if (declared.channel) channelInputsOf(declared, declared.channel, this.#deps);
    else {
      parametersOf(declared, this.#deps);
      requestBodyOf(declared, this.#deps);
    }
    this.responses(declared);
  }

  /** What an operation answers with, where its route says nothing of it. */
  responses(declared: DeclaredOperation): void {
    responsesOf(declared, this.#deps, true);
  }

  /** Reports what was found. */
  finish(): void {
    this.#schemas.finish();
    for (const { code, file, pointer, message, hint } of this.#found.errors) {
      const place = file === undefined || pointer === undefined ? null : { file, pointer };
      this.#diagnostics.add(code, place, message, hint);
    }
  }
}
