/** `kubectl gw support-bundle`: data for diagnosis, without secrets. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { printable } from '@gw/gateway/command-line';
import { VERSION } from '@gw/gateway/version';
import { pack } from 'tar-stream';
import { stringify } from 'yaml';
import { isRecord } from '../kube/kube-object.ts';
import type { AddCommand } from '../program.ts';
import { addClusterOptions, type ClusterFlags, projectOf, withCluster } from './cluster.ts';
import { collect } from './collect.ts';
import { redacted } from './redact.ts';

interface Flags extends ClusterFlags {
  readonly output?: string;
  readonly tail: string;
  readonly operatorNamespace: string;
}

export const supportBundleCommand: AddCommand = (parent, { stdout }) => {
  addClusterOptions(parent.command('support-bundle'))
    .description('collect objects, events, logs and metrics of a project into one archive, without secrets')
    .argument('[project]', 'GatewayProject; default: the only one in the namespace')
    .option('-f, --output <file>', 'archive; default gw-support-PROJECT-TIME.tar.gz')
    .option('--tail <lines>', 'log lines of each container', '2000')
    .option('--operator-namespace <name>', 'where the operator runs', 'gw-system')
    .addHelpText(
      'after',
      `
Examples:
  $ kubectl gw support-bundle shop
  $ kubectl gw support-bundle shop -f shop.tar.gz --tail 10000

Secrets are not read. Values of plugins' config, of variables and of ConfigMaps, and documents are left out; what could
not be read is listed in errors.txt. Logs hold what gateways log: no header, query, key or body.`,
    )
    .action((name: string | undefined, flags: Flags) =>
      withCluster(flags, async (cluster) => {
        const project = await projectOf(cluster, name);
        const stamp = new Date()
          .toISOString()
          .replaceAll(/[:.]|-(?=\d\dT)/g, '-')
          .slice(0, 19);
        const file = flags.output ?? `gw-support-${project.metadata.name}-${stamp}.tar.gz`;
        const archive = pack();
        const written = pipeline(archive, createGzip(), createWriteStream(file, { mode: 0o600 }));
        const errors: string[] = [];
        let count = 0;
        const add = (path: string, content: string) => {
          archive.entry({ name: path, mtime: new Date() }, content);
          count++;
        };
        add('version.txt', `kubectl gw ${VERSION}\n`);
        const options = { tail: Number(flags.tail), operatorNamespace: flags.operatorNamespace };
        for await (const item of collect(cluster, project, options)) {
          if ('error' in item) errors.push(`${item.path}: ${item.error}`);
          else add(item.path, typeof item.content === 'string' ? item.content : yamlOf(item.content));
          stdout(`${'error' in item ? 'not read' : 'added'}  ${printable(item.path)}\n`);
        }
        if (errors.length > 0) add('errors.txt', `${errors.join('\n')}\n`);
        archive.finalize();
        await written;
        stdout(
          `${file}: ${count} files${errors.length > 0 ? `, ${errors.length} could not be read (errors.txt)` : ''}\n`,
        );
      }),
    );
};

function yamlOf(value: unknown): string {
  const clean = redacted(value);
  const items = isRecord(clean) && Array.isArray(clean['items']) ? clean['items'] : [clean];
  return items.map((item) => stringify(item, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n');
}
