/** `gw-control context`: servers and tokens by name. */
import { dataFormat, oldSpelling, table } from '@gw/gateway/command-line';
import { Option } from 'commander';
import { type Contexts, contextsFile, readContexts, writeContexts } from './contexts.ts';
import { formatted } from './formatted.ts';
import type { AddCommand } from './program.ts';
import { group, serverUrl } from './session.ts';

const EXAMPLES = `  $ echo "$TOKEN" | gw-control context set prod --server https://gw.example.org --token-stdin
  $ gw-control context use prod
  $ gw-control context list`;

/** Bytes of a token. */
const MAX_TOKEN = 64 << 10;

export const contextCommand: AddCommand = (parent, { env, stdin, stdout, stderr }) => {
  const command = group(parent, 'context', 'Servers and tokens by name, kept in a file of yours.', EXAMPLES);
  const file = () => contextsFile(env);
  const change = async (to: (contexts: Contexts) => Contexts) => writeContexts(file(), to(await readContexts(file())));

  command
    .command('set')
    .description('Create or change a context, and use it.')
    .argument('<name>')
    .addOption(new Option('--server <url>', 'the control plane').argParser(serverUrl))
    .option('--token-stdin', 'read the token from standard input, so that it is in no shell history')
    .option('--project <name-or-id>', 'project to use where a command names none')
    .action(async (name: string, flags: { server?: string; tokenStdin?: boolean; project?: string }) => {
      const token = flags.tokenStdin ? (await stdin(MAX_TOKEN)).toString('utf8').trim() : undefined;
      if (token === '') throw new Error('standard input holds no token');
      await change(({ contexts }) => {
        const before = contexts[name];
        const server = flags.server ?? before?.server;
        if (server === undefined) throw new Error(`there is no context "${name}" yet: give --server`);
        // A token of one server is not for another.
        const kept = server === before?.server ? before : { server };
        const context = {
          ...kept,
          ...(token === undefined ? {} : { token }),
          ...(flags.project === undefined ? {} : { project: flags.project }),
        };
        return { current: name, contexts: { ...contexts, [name]: context } };
      });
    });

  command
    .command('use')
    .description('Use a context from now on.')
    .argument('<name>')
    .action((name: string) =>
      change((contexts) => {
        if (!(name in contexts.contexts)) throw new Error(`there is no context "${name}": see gw-control context list`);
        return { ...contexts, current: name };
      }),
    );

  command
    .command('list')
    .description('List contexts, without their tokens.')
    .addOption(dataFormat())
    .addOption(oldSpelling('--json', '--format json').implies({ format: 'json' }))
    .action(async ({ format }: { format: string }) => {
      const { current, contexts } = await readContexts(file());
      const listed = Object.entries(contexts).map(([name, { server, project, token }]) => ({
        name,
        current: name === current,
        server,
        project: project ?? null,
        has_token: token !== undefined,
      }));
      if (format !== 'text') return stdout(formatted(format, listed, () => ''));
      if (listed.length === 0) return stderr('no contexts: make one with gw-control context set\n');
      const rows = listed.map((each) => [
        each.current ? '*' : '',
        each.name,
        each.server,
        each.project ?? '',
        each.has_token ? 'yes' : 'no',
      ]);
      stdout(table([['', 'NAME', 'SERVER', 'PROJECT', 'TOKEN'], ...rows]));
    });

  command
    .command('delete')
    .description('Forget a context and its token.')
    .argument('<name>')
    .action((name: string) =>
      change(({ current, contexts: { [name]: gone, ...contexts } }) => {
        if (gone === undefined) throw new Error(`there is no context "${name}": see gw-control context list`);
        return { current: current === name ? null : current, contexts };
      }),
    );
};
