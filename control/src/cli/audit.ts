/** `gw-control audit`. */
import type { AddCommand } from './program.ts';
import { limitOption, remote, type ServerFlags, Session, time } from './session.ts';

interface AuditFlags extends ServerFlags {
  readonly project?: string;
  readonly actor?: string;
  readonly resourceType?: string;
  readonly resourceId?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

export const auditCommand: AddCommand = (parent, program) => {
  remote(parent, 'audit', 'List changes, the latest first: who, what, when.', ['audit.list'])
    .option('-p, --project <name-or-id>', 'filter by project')
    .option('--actor <actor>', 'filter by actor, such as token:ci')
    .option('--operation <operation>', 'filter by operation, such as projects.update')
    .option('--resource-type <type>', 'filter by resource type, such as project')
    .option('--resource-id <id>', 'filter by resource id')
    .option('--since <time>', 'only from then on, as in 2026-01-31T00:00:00Z')
    .option('--until <time>', 'only before then')
    .addOption(limitOption())
    .addHelpText(
      'after',
      '\nExamples:\n  $ gw-control audit --project shop --since 2026-01-31T00:00:00Z\n  $ gw-control audit --operation deployments.deploy --format json',
    )
    .action(async (flags: AuditFlags & { operation?: string }) => {
      const session = await Session.open(program, flags);
      const query = {
        project_id: flags.project === undefined ? undefined : await session.projectId(flags.project),
        actor: flags.actor,
        action: flags.operation,
        resource_type: flags.resourceType,
        resource_id: flags.resourceId,
        since: flags.since,
        until: flags.until,
      };
      const found = await session.client.list('audit.list', { query }, { limit: flags.limit });
      const rows = found.map((each) => [
        time(each.at),
        each.actor,
        each.action,
        `${each.resource_type} ${each.resource_id}`,
      ]);
      session.printTable(found, ['AT', 'ACTOR', 'OPERATION', 'RESOURCE'], rows, 'no changes');
    });
};
