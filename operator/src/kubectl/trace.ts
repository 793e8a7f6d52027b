/** `kubectl gw trace`: sends a request through one of a project's pods, and shows what each stage decided. */
import { addTraceOptions, renderTrace, type TraceFlags, type TraceReport, traceRequestOf } from '@gw/gateway/trace';
import { type GatewayProject, type Pod, pods } from '../api/resources.ts';
import type { AddCommand } from '../program.ts';
import { addClusterOptions, type Cluster, type ClusterFlags, projectOf, withCluster } from './cluster.ts';
import { type Format, formatted, outputOption } from './output.ts';
import { adminRequest, isReady, podsOf } from './pods.ts';

interface Flags extends ClusterFlags, TraceFlags {
  readonly pod?: string;
  readonly output: Format;
}

export const traceCommand: AddCommand = (parent, { stdout }) => {
  addTraceOptions(addClusterOptions(parent.command('trace')))
    .description('Send a request through a gateway pod, and show what each stage decides.')
    .argument('<project>', 'GatewayProject')
    .argument('<target>', 'path and query')
    .option('--pod <name>', 'pod to use instead of the first ready one, such as one with a sidecar')
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
Examples:
  $ kubectl gw trace shop /books
  $ kubectl gw trace shop '/books?limit=0' -H 'x-api-key: demo-key'
  $ kubectl gw trace shop /books -d '{"title":"Emma"}' -H 'content-type: application/json' -o json

It is a real request: plugins count it and the upstream gets it. It needs the right to create pods/proxy.`,
    )
    .action((name: string, target: string, flags: Flags) =>
      withCluster(flags, async (cluster) => {
        const project = await projectOf(cluster, name);
        const pod = await podFor(cluster, project, flags.pod);
        const report = await cluster.api.json({
          method: 'POST',
          ...adminRequest(pod, '/trace'),
          body: traceRequestOf(target, flags),
        });
        // The gateway's own answer: its type and ours are one.
        const trace = report as TraceReport;
        stdout(
          formatted(
            flags.output,
            { pod: pod.metadata.name, ...trace },
            () => `pod        ${pod.metadata.name}\n${renderTrace(trace)}`,
          ),
        );
      }),
    );
};

async function podFor(cluster: Cluster, project: GatewayProject, name: string | undefined): Promise<Pod> {
  const { namespace } = cluster;
  if (name !== undefined) {
    const named = await cluster.objects.get(pods, { namespace, name });
    if (!named) throw new Error(`namespace "${namespace}" has no pod "${name}"`);
    return named;
  }
  const ready = (await podsOf(cluster, project)).find(isReady);
  if (!ready) throw new Error(`no pod of "${project.metadata.name}" is ready: see kubectl gw status`);
  return ready;
}
