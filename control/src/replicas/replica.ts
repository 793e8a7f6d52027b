/** One process's part in the control plane's work: its connected data planes, and deployments. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ChannelOptions, DataPlaneChannel } from '../channel/index.ts';
import type { ControlPlane } from '../control-plane.ts';
import { dataPlanePorts, reclaim } from '../modules/data-planes/channel-ports.ts';
import { Journal } from '../modules/data-planes/journal.ts';
import { Deployer } from '../modules/deployments/deployer.ts';
import { Membership } from './membership.ts';

export interface ReplicaOptions {
  readonly channel?: ChannelOptions;
}

export class Replica {
  readonly channel: DataPlaneChannel;
  readonly #journal: Journal;
  readonly #deployer: Deployer;
  readonly #membership: Membership;
  readonly #stops: readonly (() => void)[];

  /** Rejects if the database cannot be queried. */
  static async start(control: ControlPlane, options: ReplicaOptions = {}): Promise<Replica> {
    const replica = new Replica(control, options);
    try {
      await replica.#membership.join();
    } catch (error) {
      await replica.close();
      throw error;
    }
    return replica;
  }

  private constructor({ context, access }: ControlPlane, { channel: channelOptions }: ReplicaOptions) {
    const { db, log, metrics, replicaId } = context;
    this.#journal = new Journal(db, log);
    const channel = new DataPlaneChannel(dataPlanePorts(context, this.#journal), channelOptions);
    this.channel = channel;
    this.#deployer = new Deployer(context, channel);
    this.#membership = new Membership(context, {
      revived: () => reclaim(db.kysely, replicaId, channel.planes()),
    });
    metrics.onScrape(() => {
      const { connected, pending, drifted } = channel.counts();
      metrics.set('gw_control_data_planes_pending', {}, pending);
      metrics.set('gw_control_data_planes_connected', {}, connected);
      metrics.set('gw_control_data_planes_drifted', {}, drifted);
    });
    this.#stops = [
      access.onRevokedKey((keyId) => void channel.revoke(keyId)),
      access.onDeletedProject((projectId) => void channel.removeProject(projectId)),
    ];
  }

  /** Handler of the server's `upgrade` event. */
  readonly handleUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    this.channel.handleUpgrade(request, socket, head);
  };

  /** Sends the data planes to other replicas, and records that they have gone. */
  async close(): Promise<void> {
    await this.channel.drain();
    await this.#deployer.close();
    await this.#journal.close();
    for (const stop of this.#stops) stop();
    await this.#membership.leave();
  }
}
