import { describe, expect, it } from 'vitest';
import { commandOf } from './commands.ts';

const none = new Map<string, string>();
const made = { allowed: false, made: true };
const allowed = { allowed: true, made: false };
const GW = ['node', '/app/gw.js'];

describe('what local mode runs of a container', () => {
  it.each([
    ['what the operator makes', { command: GW, args: ['serve', '--listen', '0.0.0.0:8080'] }],
    ['an image of gw', { image: 'registry.example.org:5000/team/gw:0.8.0', args: ['serve'] }],
    ['an image of gw by digest', { image: `gw@sha256:${'a'.repeat(64)}`, args: ['serve'] }],
  ])('%s', (_, container) => {
    expect(commandOf({ name: 'a', ...container }, none, made)).toEqual({ program: GW, args: container.args });
  });

  it.each([
    ['a program', { command: ['sh', '-c', 'id'] }, 'its command is "sh -c id"'],
    ['code for Node.js', { command: ['node', '-e', 'x'] }, 'its command is "node -e x"'],
    ['a file of the manifest', { command: ['node', '/srv/server.mjs'] }, 'its command is "node /srv/server.mjs"'],
    ['another command of gw', { command: GW, args: ['init', '/home/me'] }, 'its command is "gw init"'],
    ['no command of gw', { image: 'gw:1' }, 'its command is "gw"'],
    ['arguments alone', { image: 'node:26', args: ['-e', 'x'] }, 'images other than gw’s are not run'],
    ['an image that is only called like it', { image: 'evil/not-gw:1', args: ['serve'] }, 'images other than'],
  ])('%s is not run, and says so', (_, container, message) => {
    expect(() => commandOf({ name: 'a', ...container }, none, made)).toThrow(message.replace('’', "'"));
  });

  it('nothing of a manifest is run, not even the gateway, whose options could read a file and send it', () => {
    const container = { name: 'a', image: 'gw', args: ['serve', '--api-key-file', '/home/me/.token'] };
    expect(() => commandOf(container, none, { allowed: false, made: false })).toThrow('it comes from a manifest');
  });

  it('variables that run something else are not set', () => {
    for (const name of [
      'NODE_OPTIONS',
      'node_options',
      'PATH',
      'GCONV_PATH',
      'LD_PRELOAD',
      'DYLD_INSERT_LIBRARIES',
      'OPENSSL_CONF',
    ]) {
      const variables = new Map([[name, 'x']]);
      const container = { name: 'a', command: GW, args: ['serve'] };
      expect(() => commandOf(container, variables, made)).toThrow(`it sets ${name}: local mode runs that`);
      expect(commandOf(container, variables, allowed).program).toEqual(GW);
    }
  });

  it('all of it is run where that is allowed', () => {
    expect(commandOf({ name: 'a', command: ['node', '/srv/a.mjs'], args: ['b'] }, none, allowed)).toEqual({
      program: ['node'],
      args: ['/srv/a.mjs', 'b'],
    });
    expect(commandOf({ name: 'a', command: GW, args: ['dev', '/srv'] }, none, allowed).args).toEqual(['dev', '/srv']);
  });
});
