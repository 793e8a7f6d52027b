/** The channel as data planes meet it: real WebSockets, well-behaved and not, on a host's side in memory. */
import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../../../test/eventually.ts';
import { propertyRuns } from '../../../test/property-runs.ts';
import { hello, Peer, textFrame, UPGRADE } from '../../../test/serve/link-peer.ts';
import { LinkServer, PROJECT } from '../../../test/serve/link-server.ts';
import type { ChannelOptions } from './ports.ts';

const HASH = `sha256:${'a'.repeat(64)}`;
const notice = (id: string) => ({
  deployment_id: id,
  artifact_id: id,
  artifact_hash: HASH,
  sha256: HASH,
  size: 1,
  path: '/artifacts/x',
});
describe('the data-plane channel', () => {
  let host: LinkServer;
  const start = async (options: ChannelOptions = {}) => {
    host = await LinkServer.start(options);
    return host;
  };
  const peer = () => new Peer(host.url);
  const admitted = async (over: object = {}) => {
    const each = peer();
    await each.say(hello(over));
    await each.until('welcome');
    return each;
  };
  afterEach(async () => {
    await host.kill();
    expect(host.channel.counts()).toMatchObject({ connected: 0, pending: 0 });
  });

  it('welcomes with what is wanted, and tells all of a project of what is new', async () => {
    await start();
    host.want(notice('one'));
    const [a, b] = [await admitted(), await admitted({ instance_id: 'i-2' })];
    expect(await a.until('welcome')).toMatchObject({ data_plane_id: 'plane-i-1', artifact: { artifact_id: 'one' } });
    expect(host.channel.announce(PROJECT, notice('two'))).toBe(2);
    expect(host.channel.announce('another project', notice('three'))).toBe(0);
    for (const each of [a, b]) expect(await each.until('artifact')).toMatchObject({ artifact_id: 'two' });
    expect(
      host.channel
        .planes()
        .map(({ instanceId }) => instanceId)
        .sort(),
    ).toEqual(['i-1', 'i-2']);
    expect(host.channel.planes('another project')).toEqual([]);
    expect(host.channel.counts()).toMatchObject({ connected: 2, connectedTotal: 2, announcedTotal: 2 });
  });

  it('asks again what is wanted, so that a notification that was lost is late and not lost', async () => {
    await start({ pollMs: 50 });
    host.want(notice('one'));
    const each = await admitted();
    // The host wants another one and says nothing.
    host.wanted = async () => notice('two');
    expect(await each.until('artifact')).toMatchObject({ artifact_id: 'two' });
  });

  it('refuses keys, projects and second hellos, each with its close code', async () => {
    await start();
    const refused = async (...messages: (object | string)[]) => {
      const each = peer();
      for (const message of messages) await each.say(message);
      const said = await each.until('refused');
      return [said['reason'], await each.closed];
    };
    expect(await refused(hello({ api_key: 'no' }))).toEqual(['bad-key', 4401]);
    expect(await refused(hello({ project_id: '00000000-0000-4000-8000-000000000000' }))).toEqual([
      'unknown-project',
      4404,
    ]);
    expect(await refused({ type: 'heartbeat', artifact_hash: null })).toEqual(['malformed', 4400]);
    expect(await refused('{')).toEqual(['malformed', 4400]);
    expect(await refused(hello(), hello())).toEqual(['malformed', 4400]);
    const binary = await admitted();
    binary.socket.send(Buffer.from([1, 2]));
    expect(await binary.closed).toBe(4400);
    const large = await admitted();
    large.socket.send('x'.repeat(100_000));
    expect(await large.closed).toBe(4400);
    expect(large.heard.at(-1)).toMatchObject({
      type: 'refused',
      reason: 'malformed',
      detail: 'A message may have at most 16384 bytes.',
    });
  });

  it('hears what comes before its welcome, and answers every heartbeat of it', async () => {
    await start();
    let letIn = () => {};
    const authenticate = host.authenticate.bind(host);
    host.authenticate = async (said) => {
      await new Promise<void>((resolve) => (letIn = resolve));
      return authenticate(said);
    };
    const each = peer();
    await each.say(hello());
    const status = { deployment_id: null, artifact_id: 'one', artifact_hash: HASH, reason: null, detail: null };
    await each.say({ type: 'heartbeat', artifact_hash: null });
    await each.say({ type: 'status', outcome: 'applied', ...status });
    await each.say({ type: 'heartbeat', artifact_hash: HASH });
    await eventually(() => expect(host.channel.counts()).toMatchObject({ pending: 1 }));
    // A ping behind them has been answered: they have come.
    each.socket.ping();
    await once(each.socket, 'pong');
    letIn();
    await eventually(() => expect(each.heard.filter(({ type }) => type === 'heartbeat')).toHaveLength(2));
    expect(each.heard.map(({ type }) => type)).toEqual(['welcome', 'heartbeat', 'heartbeat']);
    expect(host.heard.filter(({ kind }) => kind === 'reported')).toMatchObject([{ status: { artifact_id: 'one' } }]);
    expect(host.channel.planes()).toMatchObject([{ artifactHash: HASH }]);
  });

  it('ends what says no hello, falls silent, or says too much', async () => {
    await start({ helloMs: 100, heartbeatMs: 100, maxMessages: 20 });
    expect(await peer().closed).toBe(4408);
    const silent = await admitted();
    // Nobody is there to answer a close.
    expect(await silent.closed).toBe(1006);
    expect((await host.until('disconnected')).reason).toBe('timeout');
    const loud = await admitted({ instance_id: 'i-3' });
    for (let i = 0; i < 30; i++) await loud.say({ type: 'heartbeat', artifact_hash: null });
    expect(await loud.closed).toBe(4429);
  });

  it('reads nothing more of what says too much', async () => {
    await start({ maxMessages: 20, heartbeatMs: 60_000 });
    const { hostname, port } = new URL(host.url);
    const socket = connect(Number(port), hostname);
    let isTaken = false;
    socket.on('error', () => {});
    socket.write(UPGRADE);
    await once(socket, 'data');
    socket.write(textFrame(JSON.stringify(hello())));
    await host.until('connected');
    socket.resume();
    const heartbeat = textFrame(JSON.stringify({ type: 'heartbeat', artifact_hash: null }));
    socket.write(Buffer.concat(Array.from({ length: 400_000 }, () => heartbeat)), (error) => {
      isTaken = !error;
    });
    await new Promise((resolve) => socket.once('close', resolve));
    expect(isTaken).toBe(false);
    expect((await host.until('disconnected')).reason).toBe('too-many');
  });

  it('cuts off who does not read, and holds little for it meanwhile', async () => {
    await start({ maxWaitingBytes: 16_384, heartbeatMs: 60_000 });
    const { hostname, port } = new URL(host.url);
    // A WebSocket by hand, which reads nothing after its welcome.
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    socket.write(UPGRADE);
    await once(socket, 'data');
    socket.write(textFrame(JSON.stringify(hello())));
    await host.until('connected');
    socket.pause();
    const big = { ...notice('big'), path: `/${'x'.repeat(2000)}` };
    for (let i = 0; i < 20_000 && host.channel.counts().connected > 0; i++) {
      host.channel.announce(PROJECT, { ...big, deployment_id: `d-${i}` });
      if (i % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await host.until('disconnected')).reason).toBe('too-slow');
    socket.destroy();
  });

  it('lets the later of two with one instance id stay', async () => {
    await start();
    const first = await admitted();
    const second = await admitted();
    expect(await first.closed).toBe(4411);
    expect(host.channel.disconnect('plane-i-1')).toBe(true);
    expect(await second.closed).toBe(4410);
    await host.until('disconnected', ({ reason }) => reason === 'disconnected');
    expect(host.channel.disconnect('plane-i-1')).toBe(false);
  });

  it('takes away keys and projects from those connected, and from those being let in', async () => {
    await start();
    const authenticate = host.authenticate.bind(host);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const each = await admitted();
    host.authenticate = async (message) => {
      const admission = await authenticate(message);
      await held;
      return admission;
    };
    const late = peer();
    await late.say(hello({ instance_id: 'i-2' }));
    while (host.channel.counts().pending === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(host.channel.revoke('key-1')).toBe(1);
    release();
    expect(await each.closed).toBe(4403);
    expect(await late.closed).toBe(4403);
    const other = await admitted({ instance_id: 'i-3' });
    expect(host.channel.removeProject(PROJECT)).toBe(1);
    expect(await other.closed).toBe(4404);
  });

  it('says unavailable where the host fails or does not answer, and tells the host', async () => {
    await start({ helloMs: 200 });
    const fails = async () => {
      throw new Error('the database is away');
    };
    const { authenticate, wanted } = host;
    host.authenticate = fails;
    const one = peer();
    await one.say(hello());
    expect(await one.closed).toBe(4503);
    host.authenticate = authenticate;
    host.wanted = fails;
    const two = peer();
    await two.say(hello());
    expect(await two.closed).toBe(4503);
    host.wanted = wanted;
    expect(host.errors.length).toBe(2);
    host.authenticate = () => new Promise(() => {});
    const three = peer();
    await three.say(hello());
    expect(await three.closed).toBe(4503);
    host.authenticate = authenticate;
    await admitted();
  });

  it('tells the host of one data plane in order, one call at a time', async () => {
    await start();
    const order: string[] = [];
    host.connected = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      order.push('connected');
    };
    host.reported = async (_plane, status) => {
      await new Promise((resolve) => setTimeout(resolve, status.outcome === 'refused' ? 30 : 0));
      order.push(status.outcome);
    };
    host.disconnected = () => void order.push('disconnected');
    const each = await admitted();
    const status = { type: 'status', deployment_id: null, artifact_id: 'a', artifact_hash: null, detail: null };
    await each.say({ ...status, outcome: 'refused', reason: 'signature' });
    await each.say({ ...status, outcome: 'applied', reason: null });
    each.socket.close();
    await each.closed;
    await host.kill();
    expect(order).toEqual(['connected', 'refused', 'applied', 'disconnected']);
  });

  it('sees drift after its grace, not while a deployment is in progress, and says when it is over', async () => {
    await start({ driftGraceMs: 100, heartbeatMs: 1000 });
    host.want(notice('one'));
    let asked = 0;
    // After three graces in a deployment there is one without.
    host.deploying = () => ++asked <= 3;
    const each = await admitted();
    await host.until('drifted');
    expect(asked).toBe(4);
    expect(await each.until('drift')).toMatchObject({ drifted: true, wanted: HASH });
    expect(host.channel.planes()[0]).toMatchObject({ drifted: true, artifactHash: null });
    await each.say({ type: 'heartbeat', artifact_hash: HASH });
    await each.until('drift', { drifted: false });
    await host.until('drifted', ({ report }) => !report.drifted);
    expect(each.heard.filter(({ type }) => type === 'drift').length).toBe(2);
    // Nothing wanted is no drift.
    host.want(null);
    await each.say({ type: 'heartbeat', artifact_hash: null });
    expect(host.channel.counts().drifted).toBe(0);
  });

  // docs/decisions.md#version-skew
  it('does not tell a data plane of a format that it does not read, and that is no drift', async () => {
    await start({ driftGraceMs: 50 });
    const old = await admitted();
    const newer = await admitted({ instance_id: 'i-2', artifact_versions: [6, 7] });
    expect(host.channel.announce(PROJECT, { ...notice('seven'), artifact_version: 7 })).toBe(1);
    expect(await newer.until('artifact')).not.toHaveProperty('artifact_version');
    await newer.until('drift');
    host.channel.announce(PROJECT, { ...notice('six'), artifact_version: 6 });
    await old.until('artifact', { artifact_id: 'six' });
    expect(old.heard.map(({ type }) => type)).toEqual(['welcome', 'artifact']);
  });

  it('answers upgrades that it does not take with a problem document', async () => {
    await start({ maxConnections: 1, maxSilent: 0 });
    const answer = async (path: string, protocol: string) => {
      const socket = new WebSocket(host.url.replace('/ws/data-plane', path), [protocol]);
      socket.on('error', () => {});
      const [, response] = await once(socket, 'unexpected-response');
      let text = '';
      for await (const chunk of response) text += chunk;
      return { status: response.statusCode, type: response.headers['content-type'], ...JSON.parse(text) };
    };
    expect(await answer('/other', 'gw.data-plane.v1')).toMatchObject({ status: 404, type: 'urn:gw:error:not-found' });
    expect(await answer('/ws/data-plane', 'gw.data-plane.v2')).toMatchObject({
      status: 400,
      type: 'urn:gw:error:bad-request',
    });
    await admitted();
    expect(await answer('/ws/data-plane', 'gw.data-plane.v1')).toMatchObject({ status: 503 });
  });

  it('drains: goodbye to each, nobody new, and the host has heard of all when it resolves', async () => {
    await start();
    const each = await admitted();
    const drained = host.channel.drain({ spreadMs: 100 });
    expect((await each.until('goodbye'))['after_ms']).toBeLessThan(100);
    expect(await each.closed).toBe(1001);
    await drained;
    expect(host.heard.at(-1)).toMatchObject({ kind: 'disconnected', reason: 'drained' });
  });

  it('lives on whatever it is sent', async () => {
    // It falls silent for as long as all the others are looked at.
    await start({ maxMessages: 1_000_000, heartbeatMs: 120_000 });
    const good = await admitted({ instance_id: 'good' });
    const any = fc.oneof(
      fc.string(),
      fc.json(),
      fc.record({ type: fc.constantFrom('hello', 'status', 'heartbeat', 'x') }).map((x) => JSON.stringify(x)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(any, { minLength: 1, maxLength: 5 }), fc.boolean(), async (texts, greets) => {
        const each = peer();
        if (greets) await each.say(hello());
        for (const text of texts) await each.say(text);
        each.socket.close();
        await each.closed;
      }),
      propertyRuns(50),
    );
    await good.say({ type: 'heartbeat', artifact_hash: null });
    expect(await good.until('heartbeat')).toEqual({ type: 'heartbeat' });
    expect(host.errors).toEqual([]);
  });
});
