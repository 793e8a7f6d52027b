/** Tokens of the REST API. */
import { useState } from 'preact/hooks';
import { client } from '../api/client.ts';
import type { NewToken, Project, Token } from '../api/types.ts';
import { ConfirmButton, DialogButton } from '../components/dialog-button.tsx';
import { Choice, Field } from '../components/field.tsx';
import { PageHead } from '../components/page-head.tsx';
import { ShownOnce } from '../components/shown-once.tsx';
import { ListView } from '../components/table.tsx';
import { Command, Empty } from '../components/values.tsx';
import { useAll, useList } from '../data/use-list.ts';

const ROLES: readonly { readonly value: Token['role']; readonly label: string }[] = [
  { value: 'viewer', label: 'Viewer: reads' },
  { value: 'editor', label: 'Editor: also changes specs and plugins, and compiles' },
  { value: 'deployer', label: 'Deployer: also deploys and rolls back' },
  { value: 'admin', label: 'Admin: may all' },
];

interface TokenForm {
  readonly name: string;
  readonly role: Token['role'];
  /** Id; empty for all projects. */
  readonly project: string;
  /** As `datetime-local` writes it; empty for never. */
  readonly expires: string;
}
const EMPTY: TokenForm = { name: '', role: 'viewer', project: '', expires: '' };

export function Tokens() {
  const list = useList('tokens.list', {});
  const projects = useAll('projects.list', {});
  const nameOf = new Map(projects.data?.map(({ id, name }) => [id, name]));
  const [created, setCreated] = useState<NewToken | null>(null);
  return (
    <main id="main" class="page" tabIndex={-1}>
      <PageHead title="Tokens">
        <TokenButton
          projects={projects.data ?? []}
          onCreated={(token) => {
            setCreated(token);
            list.reload();
          }}
        />
      </PageHead>
      <ListView
        caption="Tokens"
        list={list}
        rowKey={({ id }) => id}
        empty={
          <Empty title="There is no token yet">
            <p>People and programs sign in with tokens of their own, each with a role.</p>
            <Command text="gw-control tokens create ci --role deployer" />
          </Empty>
        }
        columns={({ actions, name, status, time }) => [
          name(({ name: text, prefix }) => ({ text, note: <code class="muted">{prefix}…</code> })),
          { label: 'Role', cell: ({ role }) => role },
          {
            label: 'Project',
            cell: ({ project_id }) =>
              project_id === null ? <span class="muted">all</span> : (nameOf.get(project_id) ?? project_id),
          },
          status(stateOf),
          time('Last used', ({ last_used_at }) => last_used_at),
          time('Expires', ({ expires_at }) => expires_at),
          actions((token) =>
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
          ),
        ]}
      />
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

interface TokenButtonProps {
  readonly projects: readonly Project[];
  readonly onCreated: (token: NewToken) => void;
}

function TokenButton({ projects, onCreated }: TokenButtonProps) {
  const all = { value: '', label: 'All projects' };
  return (
    <DialogButton
      primary
      label="New token"
      title="New token"
      action="Create"
      start={EMPTY}
      act={({ name, role, project, expires }) => {
        const project_id = project === '' ? null : project;
        const expires_at = expires === '' ? null : new Date(expires).toISOString();
        return client.call('tokens.create', { body: { name, role, project_id, expires_at } });
      }}
      onDone={onCreated}
    >
      {({ values: { name, role, project, expires }, set }) => (
        <>
          <Field
            label="Name"
            value={name}
            onInput={(name) => set({ name })}
            required
            autofocus
            maxLength={200}
            hint="The audit log names it."
          />
          <Choice label="Role" value={role} options={ROLES} onChange={(role) => set({ role })} />
          <Choice
            label="Project"
            value={project}
            options={[all, ...projects.map(({ id, name }) => ({ value: id, label: name }))]}
            onChange={(project) => set({ project })}
          />
          <Field
            label="Expires"
            type="datetime-local"
            value={expires}
            onInput={(expires) => set({ expires })}
            hint="Leave empty for no expiry."
          />
        </>
      )}
    </DialogButton>
  );
}
