import { describe, expect, it } from 'vitest';
import { ConstantTexts } from './constant-texts.ts';

describe('texts of the state that calls begin with', () => {
  const state = Buffer.from('..x-limit..x-reset..caf\u00e9', 'latin1');

  it('are decoded once', () => {
    const texts = new ConstantTexts(state);
    const memory = Buffer.from(state);
    expect(texts.at(memory, 2, 7)).toBe('x-limit');
    expect(texts.at(memory, 2, 7)).toBe('x-limit');
    expect(texts.at(memory, 2, 3)).toBe('x-l');
    expect(texts.at(memory, 0, 0)).toBe('');
  });

  it('are not those that a call has written in their place', () => {
    const texts = new ConstantTexts(state);
    const memory = Buffer.from(state);
    expect(texts.at(memory, 2, 7)).toBe('x-limit');
    memory.write('secret!', 2);
    expect(texts.at(memory, 2, 7)).toBeNull();
    // Nothing of it is kept.
    expect(texts.at(memory, 2, 7)).toBeNull();
    expect(texts.at(Buffer.from(state), 2, 7)).toBe('x-limit');
  });

  it('are ASCII, and lie within the state', () => {
    const texts = new ConstantTexts(state);
    const memory = Buffer.concat([state, Buffer.from('more')]);
    expect(texts.at(memory, 20, 4)).toBeNull();
    expect(texts.at(memory, 22, 6)).toBeNull();
    expect(texts.at(memory, state.length, 4)).toBeNull();
  });
});
