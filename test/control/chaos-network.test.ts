/** A gateway in a network of its own, whose link to the control plane is cut: packets vanish, and nothing says so. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from '../serve/gateway.ts';
import { Project, until } from './fleet.ts';
import { NetworkNamespace, NO_NAMESPACES } from './network-namespace.ts';
import { type ControlServer, startControl } from './server.ts';

const SLOW = 300_000;
/** Milliseconds until either side notices a silent link: three heartbeats, and time to say so. */
const NOTICED = 90_000;
/** Milliseconds until a gateway that tries with backoff is connected again. */
const BACK = 60_000;

describe.skipIf(NO_NAMESPACES)('a gateway behind a link that is cut (needs root and network namespaces)', () => {
  let network: NetworkNamespace;
  let control: ControlServer;
  let cache: string;
  beforeAll(async () => {
    cache = mkdtempSync(join(tmpdir(), 'gw-cut-off-'));
    network = await NetworkNamespace.create();
    control = await startControl({ args: ['--listen', `${network.hostAddress}:0`] });
  }, SLOW);
  afterAll(async () => {
    await control?.stop();
    await network?.remove();
    rmSync(cache, { recursive: true, force: true });
  });

  const start = (project: Project) =>
    startGateway(null, {
      within: network.within,
      args: [
        ...['--control-plane', control.url.replace(/^http/, 'ws'), '--project-id', project.id],
        ...['--data-plane-name', 'far', '--cache-dir', cache],
      ],
      env: { GW_API_KEY: project.key },
    });
  const serves = (gw: Gateway, body: string, withinMs?: number) =>
    until(
      () => network.get(`${gw.url}/a`),
      (text) => text === `200 ${body}`,
      withinMs,
    );
  /** The one data plane there is, as the control plane sees it. */
  const seen = (project: Project, status: string, artifactId: string, withinMs: number) =>
    until(
      async () => (await project.dataPlanes()).map((row) => [row.name, row.status, row.current_artifact_id].join(' ')),
      (rows) => rows.join() === `far ${status} ${artifactId}`,
      withinMs,
    );

  it('serves on, is seen to be gone, starts from its cache, and catches up', { timeout: SLOW }, async () => {
    const project = await Project.create(control);
    const [first, second, third] = [
      await project.compile('first'),
      await project.compile('second'),
      await project.compile('third'),
    ];
    await project.deploy(first.id);
    const gw = await start(project);
    let again: Gateway | null = null;
    try {
      await serves(gw, 'first');
      await network.cut();
      const begun = await project.deploy(second.id, { timeout_seconds: 5 });
      expect(await project.ended(begun)).toMatchObject({ status: 'timed_out', applied: 0 });
      await seen(project, 'disconnected', first.id, NOTICED);
      await serves(gw, 'first');
      await network.mend();
      await serves(gw, 'second', BACK);
      await seen(project, 'connected', second.id, BACK);

      await network.cut();
      await gw.stop();
      await project.deploy(third.id);
      again = await start(project);
      await serves(again, 'second');
      await network.mend();
      await serves(again, 'third', BACK);
      await seen(project, 'connected', third.id, BACK);
    } finally {
      await Promise.all([gw, again].map((each) => each?.stop()));
    }
  });
});
