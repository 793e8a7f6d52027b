/** Stage 2: the specs as documents of a known kind (E1001, E1002). */
import type { Diagnostics } from '../spec/diagnostic.ts';
import type { Document } from '../spec/document.ts';
import type { Documents } from '../spec/documents.ts';
import { get } from '../spec/json.ts';
import { recognise, type Spec } from '../spec/recognise.ts';
import type { Sources } from './read.ts';

export interface ParsedSpec {
  readonly spec: Spec;
  /** Name in the artifact. */
  readonly base: string;
}

export interface Parsed {
  readonly specs: readonly ParsedSpec[];
  /** Documents of undeclared type: parts of specs if a spec refers to them, else E1001. */
  readonly parts: readonly Document[];
}

export function parse({ specs }: Sources, documents: Documents, diagnostics: Diagnostics): Parsed {
  const parsed: ParsedSpec[] = [];
  const parts: Document[] = [];
  for (const { file, base } of specs) {
    const document = documents.open(file);
    if (!document) continue;
    if (['openapi', 'asyncapi', 'swagger'].every((name) => get(document.value, name) === undefined)) {
      parts.push(document);
      continue;
    }
    const spec = recognise(document, diagnostics);
    if (spec) parsed.push({ spec, base });
  }
  return { specs: parsed, parts };
}
