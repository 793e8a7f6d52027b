/** The kind of a document (E1001), and the members that every kind requires (E1004). */

import { nearestName } from '../text/nearest-name.ts';
import type { Diagnostics } from './diagnostic.ts';
import type { Document } from './document.ts';
import { member, placeOf } from './documents.ts';
import { get, isObject, kindOf, objectOf } from './json.ts';
import { ASYNCAPI_ROOT, INFO, OPENAPI_ROOT, warnOfMisspelt } from './misspelt-fields.ts';
import { fullVersion, type SpecType } from './spec-version.ts';

/** How schemas are to be read: OpenAPI 3.0's own dialect, or a draft of JSON Schema (AsyncAPI's is draft 07). */
export type Dialect = '3.0' | 'draft-07' | '2020-12';

export interface Spec {
  readonly document: Document;
  readonly type: SpecType;
  /** Version of the specification, such as `3.1.0`. */
  readonly version: string;
  readonly dialect: Dialect;
  readonly title: string;
  /** Version of the API. */
  readonly apiVersion: string;
}

/** Returns null, with a diagnostic, unless the document is OpenAPI 3.x or AsyncAPI 3.x. */
export function recognise(document: Document, diagnostics: Diagnostics): Spec | null {
  const root = document.value;
  const found = versionOf(root);
  if ('why' in found) {
    diagnostics.add('E1001', { file: document.file, pointer: found.pointer }, found.why, found.hint);
    return null;
  }
  const stated = get(root, found.type);
  if (stated !== found.version) {
    const written = JSON.stringify(stated);
    diagnostics.add(
      'E1007',
      { file: document.file, pointer: `/${found.type}` },
      `version ${written} has no patch number: the document is read as ${found.version}`,
      `Write "${found.type}: ${found.version}".`,
    );
  }
  const info = get(root, 'info');
  const at = (pointer: string) => ({ file: document.file, pointer });
  if (!isObject(info))
    diagnostics.add(
      'E1004',
      at(info === undefined ? '' : '/info'),
      `"info" is ${kindOf(info)}: it must be an object with title and version`,
      'Write info: { title: "Bookstore", version: "1.0.0" } at the root of the document.',
    );
  else {
    for (const name of ['title', 'version']) {
      const value = get(info, name);
      if (typeof value !== 'string') {
        diagnostics.add(
          'E1004',
          at(value === undefined ? '/info' : `/info/${name}`),
          `"info.${name}" is ${kindOf(value)}: it must be a string`,
          name === 'title'
            ? 'Write title: Bookstore below "info".'
            : 'Write version: "1.0.0" below "info", in quotation marks.',
        );
      }
    }
  }
  checkBody(document, found, diagnostics);
  const whole = { document, pointer: '', value: root };
  warnOfMisspelt(whole, found.type === 'openapi' ? OPENAPI_ROOT : ASYNCAPI_ROOT, diagnostics);
  warnOfMisspelt(member(whole, 'info'), INFO, diagnostics);
  return {
    document,
    ...found,
    title: String(get(info, 'title') ?? ''),
    apiVersion: String(get(info, 'version') ?? ''),
  };
}

type Found = Pick<Spec, 'type' | 'version' | 'dialect'>;

function versionOf(root: unknown): Found | { readonly why: string; readonly pointer: string; readonly hint?: string } {
  if (!isObject(root)) return { why: `the document is ${kindOf(root)}, not an object`, pointer: '' };
  const openapi = get(root, 'openapi');
  if (openapi !== undefined) {
    const version = fullVersion('openapi', openapi);
    if (version === null) {
      return {
        why: `OpenAPI version ${JSON.stringify(openapi)} is not one of 3.0.x, 3.1.x and 3.2.x`,
        pointer: '/openapi',
      };
    }
    return { type: 'openapi', version, dialect: version.startsWith('3.0.') ? '3.0' : '2020-12' };
  }
  const asyncapi = get(root, 'asyncapi');
  if (asyncapi !== undefined) {
    const version = fullVersion('asyncapi', asyncapi);
    if (version === null) {
      return { why: `AsyncAPI version ${JSON.stringify(asyncapi)} is not 3.x`, pointer: '/asyncapi' };
    }
    return { type: 'asyncapi', version, dialect: 'draft-07' };
  }
  if (get(root, 'swagger') !== undefined) {
    return {
      why: 'the document is Swagger 2.0',
      pointer: '/swagger',
      hint: 'Convert it to OpenAPI 3, for example with swagger2openapi.',
    };
  }
  return { why: 'the document has neither "openapi" nor "asyncapi"', pointer: '' };
}

function pathsHint({ value }: Document): string {
  const misspelt = Object.keys(objectOf(value)).find((name) => nearestName(name, ['paths']) !== null);
  if (misspelt !== undefined) return `Rename "${misspelt}" to "paths".`;
  return 'Write paths: at the root of the document, with the paths of the API below it.';
}

function checkBody(document: Document, { type, version }: Found, diagnostics: Diagnostics): void {
  const root = { document, pointer: '', value: document.value };
  const must = (name: string) => {
    const value = get(document.value, name);
    if (value !== undefined && !isObject(value)) {
      diagnostics.add(
        'E1004',
        { file: document.file, pointer: `/${name}` },
        `"${name}" is ${kindOf(value)}: it must be an object`,
        `Write the members of "${name}" by name below it${name === 'paths' ? ', such as /books' : ''}.`,
      );
    }
    return value !== undefined;
  };
  if (type === 'asyncapi') {
    for (const name of ['channels', 'operations', 'components']) must(name);
    return;
  }
  const has = ['paths', 'components', 'webhooks'].map(must);
  const needed = version.startsWith('3.0.') ? has[0] : has.includes(true);
  if (!needed)
    diagnostics.add(
      'E1004',
      placeOf(root),
      version.startsWith('3.0.') ? '"paths" is missing' : 'one of "paths", "components" and "webhooks" is needed',
      pathsHint(document),
    );
}
