import { describe, expect, it } from 'vitest';
import { didYouMean, nearestName, nearestNames } from './nearest-name.ts';

describe('nearestName', () => {
  it.each([
    ['minLenght', ['maxLength', 'minLength', 'minItems'], 'minLength'],
    ['http-upsteam', ['ws-upstream', 'http-upstream', 'mock'], 'http-upstream'],
    ['moc', ['mock', 'cors'], 'mock'],
    ['apikey', ['apiKey', 'basic'], 'apiKey'],
    ['api_key', ['apiKey'], 'apiKey'],
    ['urll', ['url', 'path'], 'url'],
    ['gett', ['get', 'put'], 'get'],
    ['Bok', ['Author', 'Book'], 'Book'],
    ['responces', ['parameters', 'responses'], 'responses'],
  ])('%s of %j is %s', (name, known, nearest) => {
    expect(nearestName(name, known)).toBe(nearest);
  });

  it.each([
    ['example', ['examples'].filter(() => false)],
    ['colour', ['title', 'format', 'pattern']],
    ['a', ['b']],
    ['x'.repeat(65), ['x'.repeat(64)]],
    ['same', ['same']],
  ])('returns null for %s of %j', (name, known) => {
    expect(nearestName(name, known)).toBeNull();
  });

  it('compares a bounded number of names', () => {
    const known = Array.from({ length: 2_000 }, (_, i) => `other-${i}`);
    expect(nearestName('minLenght', [...known, 'minLength'])).toBeNull();
  });
});

it('didYouMean asks, or says nothing', () => {
  expect(didYouMean('urll', ['url'])).toBe('Did you mean "url"?');
  expect(didYouMean('colour', ['url'])).toBeNull();
});

const NAMES = ['getBook', 'listBooks', 'addBook', 'deleteBook', 'health'];

describe('nearestNames', () => {
  it.each([
    ['getbook', ['getBook']],
    ['getBok', ['getBook']],
    ['listBook', ['listBooks', 'getBook']],
    ['Book', ['getBook', 'listBooks', 'addBook']],
    ['helth', ['health']],
    ['zzzzz', []],
  ])('of %s offers %j', (name, offered) => {
    expect(nearestNames(name, NAMES)).toEqual(offered);
  });

  it('has its answer soon, however long names are', () => {
    const names = Array.from({ length: 1000 }, (_, i) => `${'x'.repeat(100_000)}${i}`);
    expect(nearestNames('y'.repeat(100_000), names)).toEqual([]);
  });
});
