/** The Services of local mode: a relay for each port, and the names by which pods find them. */
import { writeFile } from 'node:fs/promises';
import { messageOf } from '@gw/gateway/message-of';
import { services } from '../api/resources.ts';
import { keyOf, keyText } from '../kube/kube-object.ts';
import { LABEL_PROJECT } from '../objects/names.ts';
import type { Objects, Watch } from '../runtime/objects.ts';
import { WorkQueue } from '../runtime/work-queue.ts';
import { freePort } from './free-port.ts';
import type { Kubelet } from './kubelet.ts';
import { type ReachableService, reachableServices } from './local-kinds.ts';
import { Relay } from './relay.ts';

export interface ServicesOptions {
  readonly objects: Objects;
  readonly kubelet: Kubelet;
  /** Address of the first gateway; each further one takes the next port. */
  readonly listen: { readonly host: string; readonly port: number };
  readonly hostsFile: string;
  readonly onListening: (service: ReachableService, address: string) => void;
  /** The admin port of a gateway has an address that stays when its pods change. */
  readonly onAdmin: (service: ReachableService, address: string) => void;
  readonly onFailure: (service: string, reason: string) => void;
}

interface Exposed {
  /** The declared ports, so that a change reopens it. */
  readonly ports: string;
  readonly host: string;
  readonly relays: readonly Relay[];
}

export class Services {
  readonly #options: ServicesOptions;
  readonly #queue: WorkQueue;
  readonly #watch: Watch;
  readonly #exposed = new Map<string, Exposed>();
  /** Port of each gateway, kept while it lives. */
  readonly #gateways = new Map<string, number>();
  /** Admin port of each gateway, kept while it lives. */
  readonly #adminPorts = new Map<string, number>();
  #addresses = 0;

  constructor(options: ServicesOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({
      workers: 1,
      work: (key) => this.#reconcile(key),
      onError: (key, error) => options.onFailure(key, describe(error)),
    });
    this.#watch = options.objects.watch(services, {}, ({ object }) => this.#queue.add(keyText(keyOf(object))));
  }

  async close(): Promise<void> {
    await this.#watch.close();
    await this.#queue.close();
    for (const key of [...this.#exposed.keys()]) await this.#hide(key);
  }

  async #reconcile(key: string): Promise<undefined> {
    const [namespace = '', name = ''] = key.split('/');
    const service = await this.#options.objects.get(reachableServices, { namespace, name });
    const before = this.#exposed.get(key);
    const ports = JSON.stringify([service?.spec.ports, service?.spec.selector]);
    if (service && before?.ports === ports) return undefined;
    if (before) await this.#hide(key);
    if (!service) {
      this.#gateways.delete(key);
      this.#adminPorts.delete(key);
    } else {
      const isGateway = service.metadata.labels?.[LABEL_PROJECT] !== undefined;
      const host = isGateway ? this.#options.listen.host : this.#ownAddress();
      const relays: Relay[] = [];
      this.#exposed.set(key, { ports, host, relays });
      for (const { port, targetPort } of service.spec.ports ?? []) {
        const here = isGateway ? this.#gatewayPort(key) : port;
        const relay = new Relay({
          host,
          port: here,
          targets: () =>
            this.#options.kubelet
              .ready(namespace, service.spec.selector ?? {})
              .flatMap((pod) => pod.port(targetPort ?? port) ?? []),
        });
        await relay.start();
        relays.push(relay);
        this.#options.onListening(service, `${host.includes(':') ? `[${host}]` : host}:${here}`);
      }
      if (isGateway) relays.push(await this.#openAdmin(key, service));
    }
    await this.#writeHosts();
    return undefined;
  }

  /** Its admin port has no credentials: it listens on this machine alone, independent of `listen`. */
  async #openAdmin(key: string, service: ReachableService): Promise<Relay> {
    const port = this.#adminPorts.get(key) ?? (await freePort());
    this.#adminPorts.set(key, port);
    const { namespace = '' } = service.metadata;
    const targets = () =>
      this.#options.kubelet.ready(namespace, service.spec.selector ?? {}).flatMap((pod) => pod.port('admin') ?? []);
    const relay = new Relay({ host: '127.0.0.1', port, targets });
    await relay.start();
    this.#options.onAdmin(service, `127.0.0.1:${port}`);
    return relay;
  }

  async #hide(key: string): Promise<void> {
    const exposed = this.#exposed.get(key);
    this.#exposed.delete(key);
    await Promise.all(exposed?.relays.map((relay) => relay.close()) ?? []);
  }

  #gatewayPort(key: string): number {
    const known = this.#gateways.get(key);
    if (known !== undefined) return known;
    const taken = new Set(this.#gateways.values());
    let { port } = this.#options.listen;
    while (taken.has(port)) port++;
    this.#gateways.set(key, port);
    return port;
  }

  /**
   * Returns an address of its own, so that several Services may have the same port, and two local modes do not collide.
   * Only Linux answers on all of 127.0.0.0/8 without configuration.
   */
  #ownAddress(): string {
    if (process.platform !== 'linux') return '127.0.0.1';
    const n = ++this.#addresses;
    return `127.${1 + ((process.pid >> 8) % 250)}.${process.pid & 255}.${1 + (n % 250)}`;
  }

  /** Writes every name that the cluster's DNS would answer; of several namespaces, the first has the short name. */
  async #writeHosts(): Promise<void> {
    const hosts: { [name: string]: string } = {};
    for (const [key, { host }] of this.#exposed) {
      const [namespace, name] = key.split('/');
      const address = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
      for (const suffix of [`.${namespace}`, `.${namespace}.svc`, `.${namespace}.svc.cluster.local`])
        hosts[`${name}${suffix}`] = address;
      hosts[`${name}`] ??= address;
    }
    await writeFile(this.#options.hostsFile, JSON.stringify(hosts), { mode: 0o600 });
  }
}

function describe(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return `${error.message.replace(/^listen EADDRINUSE: address already in use /, '')} is in use: stop what listens there, or choose another with --listen`;
  }
  return messageOf(error);
}
