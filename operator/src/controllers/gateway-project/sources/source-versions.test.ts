import { describe, expect, it } from 'vitest';
import { notTakenUp, type SourceVersion } from './source-versions.ts';

const of = (kind: string, name: string, version: string): SourceVersion => ({
  kind,
  namespace: 'default',
  name,
  version,
});
const SEEN = [of('ApiSpec', 'a', '2'), of('ConfigMap', 'documents', '99'), of('PluginRef', 'p', '1')];

describe('what a status is older than', () => {
  it.each<[string, readonly SourceVersion[], readonly SourceVersion[], string | undefined]>([
    ['nothing where it has seen all', SEEN, [], undefined],
    ['an ApiSpec that was edited', [of('ApiSpec', 'a', '3')], [], 'a'],
    ['a ConfigMap whose version has more digits', [of('ConfigMap', 'documents', '100')], [], 'documents'],
    ['a PluginRef that is new', [of('PluginRef', 'q', '1')], [], 'q'],
    ['nothing where it has seen a later version', [of('ApiSpec', 'a', '1')], [], undefined],
    ['an object that was deleted', [], [of('ApiSpec', 'a', '2')], 'a'],
    ['no Secret that the project may not use', [of('Secret', 's', '7')], [], undefined],
  ])('is %s', (_, applied, gone, expected) => expect(notTakenUp('default', applied, gone, SEEN)?.name).toBe(expected));

  it('is not known of an operator that does not say', () =>
    expect(notTakenUp('default', [of('ApiSpec', 'a', '3')], [], undefined)).toBeUndefined());
});

describe('a PluginRef of another namespace', () => {
  const shared = (version: string): SourceVersion => ({ ...of('PluginRef', 'p', version), namespace: 'shared' });

  it.each<[string, readonly SourceVersion[], string | undefined]>([
    ['is waited for in its newest version', [shared('1')], 'p'],
    ['is not waited for if the project may not use it', [], undefined],
  ])('%s', (_, seen, expected) => expect(notTakenUp('default', [shared('2')], [], seen)?.name).toBe(expected));
});
