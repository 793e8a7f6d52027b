import { expect, it } from 'vitest';
import { nextLink } from './next-link.ts';

const BASE = 'https://control.example/projects?limit=2';

it.each([
  ['</projects?cursor=a>; rel="next"', 'https://control.example/projects?cursor=a'],
  ['</projects?cursor=a>;rel=next', 'https://control.example/projects?cursor=a'],
  ['</first>; rel="first", </second>; title="a, b; rel=next"; rel="prev", </third>; rel="last next"', '/third'],
  ['</a>; rel="first",</b>; REL="Next"', '/b'],
  ['<https://elsewhere.example/x>; rel="next"', 'https://elsewhere.example/x'],
])('reads %s', (header, target) => {
  expect(nextLink(header, BASE)?.href).toBe(new URL(target, BASE).href);
});

it.each([
  [null],
  [undefined],
  [''],
  ['</a>; rel="prev"'],
  ['</a>; rel="nextish"'],
  ['</a>'],
  ['no link; rel="next"'],
  ['<http://[>; rel="next"'],
])('finds none in %s', (header) => {
  expect(nextLink(header, BASE)).toBeNull();
});

it('reads a long header that means nothing at once', () => {
  for (const piece of ['<', '<>', '<>;', '<>"', ';rel=', ', '])
    expect(nextLink(piece.repeat(100_000), BASE)).toBeNull();
});
