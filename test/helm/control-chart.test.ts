/** The control plane's chart, as helm renders it. Needs helm. */
import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { describedCommand } from '../../control/src/cli/cli-doc.ts';
import { at, fromValues, hasHelm, ofKind, render, withoutHelm } from './helm.ts';

const set = (...values: readonly string[]) => values.flatMap((value) => ['--set', value]);
const POSTGRES = set('database.urlSecret.name=gw-database');

describe.skipIf(!hasHelm)(`the control plane's chart${withoutHelm}`, () => {
  it('makes an admin token that nobody guesses, unless it is given a Secret', async () => {
    const tokens = await Promise.all(
      [1, 2].map(async () => {
        const [secret] = ofKind(await render('control', ...POSTGRES), 'Secret');
        return Buffer.from(String(at(secret, 'data.token')), 'base64').toString('utf8');
      }),
    );
    expect(tokens).toEqual([expect.stringMatching(/^\w{48}$/), expect.stringMatching(/^\w{48}$/)]);
    expect(tokens[0]).not.toBe(tokens[1]);
    const given = await render('control', ...POSTGRES, ...set('adminToken.secret.name=own'));
    expect(ofKind(given, 'Secret')).toEqual([]);
    const env = at(ofKind(given, 'Deployment')[0], 'spec.template.spec.containers.0.env');
    expect(env).toContainEqual({
      name: 'GW_CONTROL_ADMIN_TOKEN',
      valueFrom: { secretKeyRef: { name: 'own', key: 'token' } },
    });
  });

  it('gives gw-control options that it knows', async () => {
    const serve = describedCommand().commands.find((command) => command.name() === 'serve');
    const known = new Set(serve?.options.map(({ long }) => long));
    const objects = await render('control', ...fromValues('control', 'full-values.yaml'));
    const [name, ...given] = [at(ofKind(objects, 'Deployment')[0], 'spec.template.spec.containers.0.args')].flat();
    expect(name).toBe('serve');
    expect(given.map((argument) => String(argument).split('=')[0]).filter((option) => !known.has(option))).toEqual([]);
  });

  it('never has two pods on an embedded database, and keeps it when the release goes', async () => {
    const objects = await render('control', ...set('database.embedded.enabled=true', 'replicas=3'));
    expect(at(ofKind(objects, 'Deployment')[0], 'spec')).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    expect(at(ofKind(objects, 'PersistentVolumeClaim')[0], 'metadata.annotations')).toEqual({
      'helm.sh/resource-policy': 'keep',
    });
    expect(ofKind(objects, 'PodDisruptionBudget')).toEqual([]);
  });

  it.each([
    [[], 'give urlSecret.name'],
    [['database.urlSecret.name=a', 'database.embedded.enabled=true'], 'give one of urlSecret and embedded'],
    [['database.embedded.enabled=true', 'autoscaling.enabled=true'], 'is for one pod'],
    [['database.urlSecret.name=a', 'oidc.issuer=https://login.example'], 'oidc.issuer needs oidc.audience'],
    [['database.urlSecret.name=a', 'database.urlSecret.keyy=b'], "don't meet the specifications of the schema"],
    [['database.urlSecret.name=a', 'logLevel=loud'], "don't meet the specifications of the schema"],
  ])('refuses %j', async (values, why) => {
    await expect(render('control', ...set(...values))).rejects.toThrow(why);
  });
});
