/** A running control plane: what starts, in order, and stops in the reverse of it. */
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { authenticator } from './access/authenticate.ts';
import { openControlPlane } from './control-plane.ts';
import { createServer } from './http/server.ts';
import { Replica } from './replicas/replica.ts';

export interface ServeOptions {
  readonly listen: { readonly host: string; readonly port: number };
  readonly databaseUrl: string;
  readonly migrate: boolean;
  /** GW_CONTROL_ADMIN_TOKEN. */
  readonly adminToken: string | undefined;
  readonly allowedOrigins: readonly string[];
}

export interface RunningControlPlane {
  readonly address: AddressInfo;
  /** Answers what is under way, then stops. */
  close(): Promise<void>;
}

/** Throws, with what to do, where it cannot start (reference 3, section 5). */
export async function serve(options: ServeOptions, log: Logger): Promise<RunningControlPlane> {
  const { adminToken, listen } = options;
  if (adminToken === undefined) {
    throw new Error(
      'GW_CONTROL_ADMIN_TOKEN is not set: set it to a long random text, such as of: openssl rand -hex 32',
    );
  }
  const control = await openControlPlane({ ...options, log });
  const app = await createServer(control, { ...options, authenticate: authenticator(adminToken) });
  let replica: Replica | undefined;
  try {
    replica = await Replica.start(control);
    app.server.on('upgrade', replica.handleUpgrade);
    await app.listen({ ...listen, listenTextResolver: () => '' });
  } catch (error) {
    await replica?.close();
    await control.close();
    throw error;
  }
  const address = app.server.address() as AddressInfo;
  log.info({ listen: `${address.address}:${address.port}`, database: control.context.db.kind }, 'serving');
  return {
    address,
    async close() {
      await replica.close();
      await app.close();
      await control.close();
    },
  };
}
