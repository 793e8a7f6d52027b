/** The built-in plugins in the registry, on both databases. */
import { builtinPlugins, loadBuiltinPlugin } from '@gw/gateway/compiler';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DATABASE_AT_HAND, type DatabaseKind, NO_SERVER, unopenedDatabase } from '../../../../test/control/database.ts';
import { SYSTEM } from '../../access/actor.ts';
import { type ControlPlane, openControlPlane } from '../../control-plane.ts';
import { defaultPluginSet, loadPlugin } from './load-plugin.ts';
import { registerPackage } from './register-package.ts';

const { manifest, ...files } = loadBuiltinPlugin('mock');
if (!manifest) throw new Error('the built-in plugin mock has no manifest');
const MOCK = { ...files, manifest };

async function newDatabase(kind: DatabaseKind): Promise<string> {
  const { url, drop } = await unopenedDatabase(kind);
  onTestFinished(drop);
  return url;
}

async function open(databaseUrl: string): Promise<ControlPlane & { readonly logged: readonly string[] }> {
  const logged: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(line) });
  const control = await openControlPlane({ databaseUrl, log, compileConcurrency: 0 });
  return { ...control, logged };
}

const registrations = async ({ context }: ControlPlane) =>
  context.db.kysely.selectFrom('audit_entries').selectAll().where('action', '=', 'plugins.register').execute();

describe.each(DATABASE_AT_HAND)('built-in plugins on %s', (_name, kind, absent) => {
  describe.skipIf(absent)('a control plane', () => {
    it('has all of them from its first start on, as the compiler takes them, and changes nothing at the next', async () => {
      const url = await newDatabase(kind);
      const first = await open(url);
      const set = await defaultPluginSet(first.context.db.kysely);
      expect(set.map(({ name }) => name)).toEqual(builtinPlugins());
      for (const { name, version } of set) {
        const loaded = await loadPlugin(first.context, name, version);
        expect({ ...loaded, wasm: Buffer.from(loaded.wasm) }).toEqual(loadBuiltinPlugin(name));
      }
      await first.close();
      const second = await open(url);
      onTestFinished(() => second.close());
      expect(await registrations(second)).toHaveLength(builtinPlugins().length);
      expect(second.logged.join('')).not.toContain('built-in');
    });

    it('replaces those that another gw came with, of the same version and with other bytes', async () => {
      const url = await newDatabase(kind);
      const control = await open(url);
      const older = { ...MOCK, manifest: { ...manifest, description: 'As it was' } };
      await registerPackage(control.context, SYSTEM, older, { builtin: true, replace: 'builtin' });
      expect((await control.plugins.get(SYSTEM, 'mock', manifest.version)).plugin.description).toBe('As it was');
      await control.close();
      const newer = await open(url);
      onTestFinished(() => newer.close());
      const { plugin } = await newer.plugins.get(SYSTEM, 'mock', manifest.version);
      expect(plugin).toMatchObject({ builtin: true, description: manifest.description });
    });

    it('leaves what somebody else registered in the place of one, and says so', async () => {
      const url = await newDatabase(kind);
      const empty = await openControlPlane({ databaseUrl: url, seedPlugins: false, compileConcurrency: 0 });
      const own = { ...MOCK, manifest: { ...manifest, description: 'Our own' } };
      await registerPackage(empty.context, SYSTEM, own, { builtin: false, replace: 'nothing' });
      await empty.close();
      const control = await open(url);
      onTestFinished(() => control.close());
      const { plugin } = await control.plugins.get(SYSTEM, 'mock', manifest.version);
      expect(plugin).toMatchObject({ builtin: false, description: 'Our own' });
      expect(control.logged.join('')).toContain('a built-in plugin is replaced by another one');
    });
  });
});

describe.skipIf(NO_SERVER)('replicas on PostgreSQL (needs DATABASE_URL)', () => {
  it('that start at once register each built-in plugin once', async () => {
    const url = await newDatabase('postgres');
    const replicas = await Promise.all([open(url), open(url), open(url)]);
    onTestFinished(async () => void (await Promise.all(replicas.map((each) => each.close()))));
    const [replica] = replicas;
    if (!replica) return;
    const names = (await registrations(replica)).map(({ after }) => (after && 'name' in after ? after.name : null));
    expect(names.toSorted()).toEqual(builtinPlugins());
  });
});
