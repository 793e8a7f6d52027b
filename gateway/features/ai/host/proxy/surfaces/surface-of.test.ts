import { describe, expect, it } from 'vitest';
import { routedPath, surfaceOf } from './surface-of.ts';

describe('the surface of a path', () => {
  it.each([
    ['/team/v1/models', 'models'],
    ['/v1/%65mbeddings', 'embeddings'],
    ['/v1/m%65ssages', 'messages'],
    ['/%76%31/%72esponses', 'responses'],
    ['/v1%2Fmodels', 'chat'],
    ['/v1/%256dodels', 'chat'],
  ])('that is %s is %s', (path, surface) => expect(surfaceOf(path)).toBe(surface));

  it('has letters and digits decoded, once, and nothing else', () => {
    for (let code = 0; code < 256; code++) {
      const encoded = `%${code.toString(16).padStart(2, '0')}`;
      const character = String.fromCharCode(code);
      expect(routedPath(encoded)).toBe(/[a-z0-9]/i.test(character) ? character : encoded);
    }
  });
});
