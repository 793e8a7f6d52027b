/** The other process of `data-planes.ts`: a control plane with its host's side in memory, that does what it is told. */
import { LinkServer } from '../serve/link-server.ts';

export type HostRequest = { readonly kind: 'deploy'; readonly artifact: Uint8Array } | { readonly kind: 'figures' };
export type HostReply =
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'figures'; readonly rssMb: number; readonly connected: number; readonly applied: number };

const say = (reply: HostReply) => void process.send?.(reply);

if (process.send) {
  const server = await LinkServer.start({ heartbeatMs: 15_000 });
  process.on('message', (request: HostRequest) => {
    if (request.kind === 'deploy') return void server.deploy(request.artifact);
    const { connected, appliedTotal } = server.channel.counts();
    const rssMb = Math.round(process.memoryUsage.rss() / (1 << 20));
    say({ kind: 'figures', rssMb, connected, applied: appliedTotal });
  });
  process.on('disconnect', () => process.exit(0));
  say({ kind: 'listening', url: server.url });
}
