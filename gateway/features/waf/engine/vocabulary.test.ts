/** The engine numbers names as the compiler does. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OPERATORS, SWITCHES, TRANSFORMATIONS, VARIABLES } from '../seclang/vocabulary.ts';

const source = readFileSync(join(import.meta.dirname, 'src', 'vocabulary.rs'), 'utf8');

/** Names of a type in the order of the source. */
function namesOf(type: string): readonly string[] {
  const body = new RegExp(`^ {4}${type} \\{\\n([^}]*)\\}`, 'm').exec(source)?.[1] ?? '';
  return [...body.matchAll(/= "(\w+)",/g)].map(([, name = '']) => name);
}

describe('the vocabulary of the engine', () => {
  it.each([
    ['Variable', Object.keys(VARIABLES)],
    ['OperatorName', Object.keys(OPERATORS)],
    ['Transform', [...TRANSFORMATIONS]],
    ['Switch', Object.keys(SWITCHES)],
  ])('has the %s names of the compiler', (type, names) => {
    expect(namesOf(type)).toEqual(names);
  });
});
