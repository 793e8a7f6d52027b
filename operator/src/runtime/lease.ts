/** Leader election by a Lease: of several replicas one reconciles, and another takes over when it stops renewing. */
import type { ILease } from 'kubernetes-models/coordination.k8s.io/v1/Lease';
import { isRecord } from '../kube/kube-object.ts';
import { manifest } from '../kube/manifest.ts';
import { microTime } from '../kube/micro-time.ts';
import { ApiError, type ApiServer } from './api-server.ts';
import { pause } from './backoff.ts';

/** Name of the operator's. */
export const LEASE = 'gw-operator';

export interface LeaseOptions {
  readonly namespace: string;
  readonly name: string;
  /** Identity of this replica: the pod's name. */
  readonly identity: string;
  /** Seconds that a Lease lasts without being renewed; default 15. */
  readonly durationSeconds?: number;
  /** Seconds between renewals; default 2. */
  readonly renewSeconds?: number;
  readonly onError: (error: unknown) => void;
}

interface LeaseSpec {
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly leaseTransitions: number;
}

interface Held {
  readonly version: string;
  readonly spec: LeaseSpec;
}

export class Lease {
  readonly #api: ApiServer;
  readonly #options: LeaseOptions;
  readonly #path: string;
  readonly #duration: number;
  readonly #renew: number;
  readonly #abort = new AbortController();
  /** The last write of another holder and when we saw it: clocks of two machines are never compared. */
  #observed: { readonly renewTime: string; readonly holder: string; readonly at: number } | undefined;
  #held: Held | undefined;
  /** Latest time at which we certainly held the Lease: before the request that renewed it. 0: never. */
  #renewed = 0;
  #lost = false;
  #renewing: Promise<void> = Promise.resolve();

  constructor(api: ApiServer, options: LeaseOptions) {
    this.#api = api;
    this.#options = options;
    this.#path = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(options.namespace)}/leases`;
    this.#duration = options.durationSeconds ?? 15;
    this.#renew = options.renewSeconds ?? 2;
  }

  /** Resolves when the Lease is ours; `onLost` is called once if it then cannot be renewed in time. False when closed. */
  async acquire(onLost: () => void): Promise<boolean> {
    const { signal } = this.#abort;
    while (!signal.aborted) {
      const asked = Date.now();
      try {
        this.#held = await this.#take();
        if (this.#held) this.#renewed = asked;
      } catch (error) {
        this.#options.onError(error);
      }
      if (this.#held) {
        this.#renewing = this.#keep(onLost);
        return true;
      }
      await pause(this.#renew * 1000 * (0.8 + 0.4 * Math.random()), signal);
    }
    return false;
  }

  /**
   * Throws when the Lease was ours and may not be any more: a process that was stopped for a while finds out here,
   * before it writes, and not at its next renewal.
   */
  mustHold(): void {
    if (this.#lost || (this.#renewed > 0 && Date.now() - this.#renewed > this.#holdsMs))
      throw new Error('nothing is written any more: the Lease ran out, and another replica may lead');
  }

  /** Two thirds of the duration: we must have stopped before anyone else may start. */
  get #holdsMs(): number {
    return (this.#duration * 1000 * 2) / 3;
  }

  /** Stops, and releases the Lease, so that another replica need not wait until it expires. */
  async close(): Promise<void> {
    this.#abort.abort();
    await this.#renewing;
    const held = this.#held;
    this.#held = undefined;
    this.#lost = this.#renewed > 0;
    if (!held) return;
    try {
      await this.#write(held.version, {
        ...held.spec,
        holderIdentity: '',
        leaseDurationSeconds: 1,
        renewTime: microTime(new Date()),
      });
    } catch (error) {
      this.#options.onError(error);
    }
  }

  async #keep(onLost: () => void): Promise<void> {
    const { signal } = this.#abort;
    for (;;) {
      await pause(this.#renew * 1000, signal);
      if (signal.aborted || !this.#held) return;
      const asked = Date.now();
      try {
        const before = this.#held;
        this.#held = await this.#write(before.version, { ...before.spec, renewTime: microTime(new Date()) });
        this.#renewed = asked;
      } catch (error) {
        this.#options.onError(error);
        const taken = error instanceof ApiError && error.status === 409;
        if (taken || Date.now() - this.#renewed > this.#holdsMs) {
          this.#held = undefined;
          this.#lost = true;
          onLost();
          return;
        }
      }
    }
  }

  async #take(): Promise<Held | undefined> {
    const now = microTime(new Date());
    const mine = {
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: this.#duration,
      acquireTime: now,
      renewTime: now,
    };
    let current: unknown;
    try {
      current = await this.#api.json({ method: 'GET', path: `${this.#path}/${this.#options.name}` });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      return this.#write(undefined, { ...mine, leaseTransitions: 0 });
    }
    const { version, spec } = read(current);
    const holder = String(spec['holderIdentity'] ?? '');
    const renewTime = String(spec['renewTime'] ?? '');
    if (holder !== '' && holder !== this.#options.identity) {
      if (this.#observed?.renewTime !== renewTime || this.#observed.holder !== holder) {
        this.#observed = { renewTime, holder, at: Date.now() };
        return undefined;
      }
      const lasts = Number(spec['leaseDurationSeconds'] ?? this.#duration) * 1000;
      if (Date.now() - this.#observed.at < lasts) return undefined;
    }
    const transitions = Number(spec['leaseTransitions'] ?? 0) + (holder === this.#options.identity ? 0 : 1);
    return this.#write(version, { ...mine, leaseTransitions: transitions });
  }

  /** Creates without a version; with one, fails with 409 when another has written since. */
  async #write(version: string | undefined, spec: LeaseSpec): Promise<Held> {
    const { name, namespace } = this.#options;
    const answer = await this.#api.json({
      method: version === undefined ? 'POST' : 'PUT',
      path: version === undefined ? this.#path : `${this.#path}/${name}`,
      body: manifest<ILease>({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name, namespace, resourceVersion: version },
        spec,
      }),
    });
    return { version: read(answer).version, spec };
  }
}

function read(lease: unknown): { version: string; spec: { readonly [name: string]: unknown } } {
  if (!isRecord(lease) || !isRecord(lease['metadata'])) throw new Error('the API server sent no Lease');
  const spec = isRecord(lease['spec']) ? lease['spec'] : {};
  return { version: String(lease['metadata']['resourceVersion'] ?? ''), spec };
}
