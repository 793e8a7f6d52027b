/** Keys that data planes of a project connect with. */
import { useState } from 'preact/hooks';
import { client } from '../../api/client.ts';
import type { NewApiKey } from '../../api/types.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { ListTable } from '../../components/table.tsx';
import { Command, Empty, Status, Time } from '../../components/values.tsx';
import { useAction } from '../../data/use-action.ts';
import { useList } from '../../data/use-list.ts';
import { useProject } from './project-context.ts';

export function ApiKeys() {
  const { project } = useProject();
  const params = { id: project.id };
  const list = useList('apiKeys.list', { params });
  const [creating, setCreating] = useState(false);
  const [created, setCreated] = useState<NewApiKey | null>(null);
  const [name, setName] = useState('');
  const { run, busy, error, clear } = useAction(async () => {
    setCreated(await client.call('apiKeys.create', { params, body: { name } }));
    setCreating(false);
    setName('');
    list.reload();
  });
  const close = () => {
    setCreating(false);
    clear();
  };
  return (
    <>
      <PageHead title="Keys of data planes">
        <button type="button" class="button primary" aria-haspopup="dialog" onClick={() => setCreating(true)}>
          New key
        </button>
      </PageHead>
      <section class="card" aria-label="Keys">
        <ListTable
          caption="Keys"
          list={list}
          rowKey={({ id }) => id}
          empty={
            <Empty title="There is no key yet">
              <p>A gateway connects with a key of its project.</p>
              <Command text={`gw-control api-keys create edge --project ${project.name}`} />
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
            {
              label: 'Status',
              cell: ({ revoked_at }) => <Status value={revoked_at === null ? 'active' : 'revoked'} />,
            },
            { label: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
            { label: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
            {
              label: 'Actions',
              kind: 'actions',
              cell: ({ id, name, revoked_at }) =>
                revoked_at === null ? (
                  <ConfirmButton
                    label="Revoke"
                    title={`Revoke ${name}?`}
                    action="Revoke"
                    act={() => client.call('apiKeys.revoke', { params: { ...params, key_id: id } })}
                    done={`Revoked ${name}.`}
                    onDone={list.reload}
                  >
                    <p>Data planes that use it are cut off at once; they serve on with what they have.</p>
                  </ConfirmButton>
                ) : null,
            },
          ]}
        />
      </section>
      {creating && (
        <FormDialog title="New key" action="Create" busy={busy} error={error} onSubmit={run} onClose={close}>
          <Field
            label="Name"
            value={name}
            onInput={setName}
            required
            autofocus
            maxLength={200}
            hint="Such as the site of the gateways that use it."
          />
        </FormDialog>
      )}
      {created && (
        <ShownOnce title={`Key ${created.name}`} secret={created.key} what="key" onClose={() => setCreated(null)} />
      )}
    </>
  );
}
