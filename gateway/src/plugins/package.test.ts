import { describe, expect, it } from 'vitest';
import { builtinPlugins, loadBuiltinPlugin } from './builtin.ts';
import { PluginPackageError, readPluginManifest, readPluginPackage, wasmFileOf } from './package.ts';

const TOML = `[plugin]
name = "key-auth"
version = "1.0.0"
type = "middleware"
description = "checks keys"
authenticates = true
preflight = false
request_headers = ["X-Key", "grpc-*"]
wasm = "other.wasm"

[capabilities]
host_functions = ["host_log", "host_credential_find"]
request_body = "buffer"
cpu_ms = 50
`;

describe('plugin.toml', () => {
  it('is read with its defaults', () => {
    expect(readPluginManifest(TOML)).toEqual({
      name: 'key-auth',
      version: '1.0.0',
      type: 'middleware',
      description: 'checks keys',
      authenticates: true,
      request_headers: ['X-Key', 'grpc-*'],
      host_functions: ['host_log', 'host_credential_find'],
      request_body: 'buffer',
      response_body: 'none',
      cpu_ms: 50,
    });
    expect(wasmFileOf(TOML)).toBe('other.wasm');
    expect(wasmFileOf(TOML.replace(/wasm = .*/, ''))).toBe('key-auth.wasm');
  });

  it.each([
    ['not TOML', '[plugin', 'does not parse'],
    ['no table', 'name = "x"', 'no table [plugin]'],
    ['no name', TOML.replace(/name = .*/, ''), 'needs "name"'],
    ['a name that is a path', TOML.replace('key-auth', '../x'), 'kebab-case'],
    ['a version that is none', TOML.replace('1.0.0', '1'), 'semantic version'],
    ['a type that is none', TOML.replace('middleware', 'filter'), '"type"'],
    ['a body that is none', TOML.replace('buffer', 'all'), '"request_body"'],
    ['a host function that is none', TOML.replace('host_log', 'fs_open'), 'host_functions'],
    ['every header', TOML.replace('grpc-*', '* *'), 'request_headers'],
    ['CPU time without end', TOML.replace('50', '99999999'), 'cpu_ms'],
    ['a module elsewhere', TOML.replace('other.wasm', '../../x.wasm'), '"wasm"', wasmFileOf],
  ])('refuses %s', (_, toml, message, read: (toml: string) => unknown = readPluginManifest) => {
    expect(() => read(toml)).toThrow(PluginPackageError);
    expect(() => read(toml)).toThrow(message);
  });
});

it('refuses a config-schema.json that is not one', () => {
  const wasm = new Uint8Array();
  expect(() => readPluginPackage({ wasm, configSchema: Buffer.from('[') })).toThrow('is not JSON');
  expect(() => readPluginPackage({ wasm, configSchema: Buffer.from('[]') })).toThrow('must hold an object');
});

it('finds the built-in plugins, and says which there are', () => {
  expect(builtinPlugins()).toEqual(
    expect.arrayContaining(['apikey-auth', 'cors', 'http-upstream', 'mock', 'rate-limit']),
  );
  expect(() => loadBuiltinPlugin('../../etc')).toThrow(/there is no built-in plugin.*mock/);
});

it.each(builtinPlugins())('%s has a plugin.toml of its own name, a schema and a module', (name) => {
  const { manifest, configSchema, wasm } = loadBuiltinPlugin(name);
  expect(manifest?.name).toBe(name);
  expect(configSchema).toMatchObject({ type: 'object' });
  expect(WebAssembly.validate(new Uint8Array(wasm))).toBe(true);
});
