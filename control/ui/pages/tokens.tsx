/** Tokens of the REST API. */
import { useState } from 'preact/hooks';
import { client } from '../api/client.ts';
import type { NewToken, Project, Token } from '../api/types.ts';
import { ConfirmButton } from '../components/confirm.tsx';
import { FormDialog } from '../components/dialog.tsx';
import { Choice, Field } from '../components/field.tsx';
import { PageHead } from '../components/page-head.tsx';
import { ShownOnce } from '../components/shown-once.tsx';
import { ListTable } from '../components/table.tsx';
import { Command, Empty, Status, Time } from '../components/values.tsx';
import { useAction } from '../data/use-action.ts';
import { useAll, useList } from '../data/use-list.ts';

const ROLES: readonly { readonly value: Token['role']; readonly label: string }[] = [
  { value: 'viewer', label: 'Viewer: reads' },
  { value: 'editor', label: 'Editor: also changes specs and plugins, and compiles' },
  { value: 'deployer', label: 'Deployer: also deploys and rolls back' },
  { value: 'admin', label: 'Admin: may all' },
];

export function Tokens() {
  const list = useList('tokens.list', {});
  const projects = useAll('projects.list', {});
  const nameOf = new Map(projects.data?.map(({ id, name }) => [id, name]));
  const [creating, setCreating] = useState(false);
  const [created, setCreated] = useState<NewToken | null>(null);
  return (
    <main id="main" class="page" tabIndex={-1}>
      <PageHead title="Tokens">
        <button type="button" class="button primary" aria-haspopup="dialog" onClick={() => setCreating(true)}>
          New token
        </button>
      </PageHead>
      <section class="card" aria-label="Tokens">
        <ListTable
          caption="Tokens"
          list={list}
          rowKey={({ id }) => id}
          empty={
            <Empty title="There is no token yet">
              <p>People and programs sign in with tokens of their own, each with a role.</p>
              <Command text="gw-control tokens create ci --role deployer" />
            </Empty>
          }
          columns={[
            {
              label: 'Name',
              kind: 'grow',
              cell: ({ name, prefix }) => (
                <>
                  <span class="strong">{name}</span> <code class="muted">{prefix}…</code>
                </>
              ),
            },
            { label: 'Role', cell: ({ role }) => role },
            {
              label: 'Project',
              cell: ({ project_id }) =>
                project_id === null ? <span class="muted">all</span> : (nameOf.get(project_id) ?? project_id),
            },
            { label: 'Status', cell: (token) => <Status value={stateOf(token)} /> },
            { label: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
            {
              label: 'Expires',
              cell: ({ expires_at }) => (expires_at ? <Time at={expires_at} /> : <span class="muted">never</span>),
            },
            {
              label: 'Actions',
              kind: 'actions',
              cell: (token) =>
                stateOf(token) === 'active' ? (
                  <ConfirmButton
                    label="Revoke"
                    title={`Revoke ${token.name}?`}
                    action="Revoke"
                    act={() => client.call('tokens.revoke', { params: { id: token.id } })}
                    done={`Revoked ${token.name}.`}
                    onDone={list.reload}
                  >
                    <p>Whoever uses it is signed out at once.</p>
                  </ConfirmButton>
                ) : null,
            },
          ]}
        />
      </section>
      {creating && (
        <TokenDialog
          projects={projects.data ?? []}
          onClose={() => setCreating(false)}
          onCreated={(token) => {
            setCreating(false);
            setCreated(token);
            list.reload();
          }}
        />
      )}
      {created && (
        <ShownOnce
          title={`Token ${created.name}`}
          secret={created.token}
          what="token"
          onClose={() => setCreated(null)}
        />
      )}
    </main>
  );
}

function stateOf({ revoked_at, expires_at }: Token): string {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && Date.parse(expires_at) <= Date.now() ? 'expired' : 'active';
}

interface TokenDialogProps {
  readonly projects: readonly Project[];
  readonly onClose: () => void;
  readonly onCreated: (token: NewToken) => void;
}

function TokenDialog({ projects, onClose, onCreated }: TokenDialogProps) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Token['role']>('viewer');
  const [project, setProject] = useState('');
  const [expires, setExpires] = useState('');
  const { run, busy, error } = useAction(async () => {
    const body = {
      name,
      role,
      project_id: project === '' ? null : project,
      expires_at: expires === '' ? null : new Date(expires).toISOString(),
    };
    onCreated(await client.call('tokens.create', { body }));
  });
  return (
    <FormDialog title="New token" action="Create" busy={busy} error={error} onSubmit={run} onClose={onClose}>
      <Field
        label="Name"
        value={name}
        onInput={setName}
        required
        autofocus
        maxLength={200}
        hint="The audit log names it."
      />
      <Choice label="Role" value={role} options={ROLES} onChange={setRole} />
      <Choice
        label="Project"
        value={project}
        options={[
          { value: '', label: 'All projects' },
          ...projects.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onChange={setProject}
      />
      <Field
        label="Expires"
        type="datetime-local"
        value={expires}
        onInput={setExpires}
        hint="Leave empty for no expiry."
      />
    </FormDialog>
  );
}
