import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { child } from './pointer.ts';
import { positions } from './position.ts';

const YAML = `# a comment
openapi: 3.1.0
paths:
  /a/{id}:
    get: &op
      tags:
        - one
        - { name: two }
    "put": *op
`;

describe('positions', () => {
  it.each([
    ['', 1],
    ['/openapi', 2],
    ['/paths/~1a~1{id}', 4],
    ['/paths/~1a~1{id}/get/tags/1', 8],
    ['/paths/~1a~1{id}/get/tags/1/name', 8],
    ['/paths/~1a~1{id}/put', 9],
    ['/paths/~1a~1{id}/get/missing/deeper', 5],
    ['/gone', 2],
  ])('of %s in YAML', (pointer, line) => {
    // The comment before a document is no part of it.
    expect(positions(YAML, [pointer]).get(pointer)?.line).toBe(pointer === '' ? 2 : line);
  });

  it('counts lines and columns of JSON from 1', () => {
    const text = '{\n  "a": [1, {"b\\"c": "}"}],\n  "d": {"e/f": null}\n}';
    const found = positions(text, ['/a', '/a/1', '/a/1/b"c', '/d/e~1f', '/gone']);
    expect(Object.fromEntries(found)).toEqual({
      '/a': { line: 2, column: 3 },
      '/a/1': { line: 2, column: 12 },
      '/a/1/b"c': { line: 2, column: 13 },
      '/d/e~1f': { line: 3, column: 9 },
      '/gone': { line: 1, column: 1 },
    });
  });

  it('finds every pointer of any JSON where it stands', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const pointers = pointersOf(value, '');
        const found = positions(text, pointers);
        const lines = text.split('\n');
        for (const pointer of pointers) {
          const { line, column } = found.get(pointer) ?? { line: 0, column: 0 };
          const rest = lines[line - 1]?.slice(column - 1) ?? '';
          const key = pointer
            .slice(pointer.lastIndexOf('/') + 1)
            .replaceAll('~1', '/')
            .replaceAll('~0', '~');
          expect(rest.startsWith(JSON.stringify(key)) || /^\d+$/.test(key)).toBe(true);
        }
      }),
      propertyRuns(100),
    );
  });

  it('reads any text to its end', () => {
    fc.assert(
      fc.property(fc.string(), (text) => void positions(`{${text}`, ['/a/b', '/0'])),
      propertyRuns(100),
    );
  });
});

function pointersOf(value: unknown, pointer: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => {
    const at = child(pointer, key);
    return [at, ...pointersOf(each, at)];
  });
}
