/** Keys that data planes of a project connect with. */
import { useState } from 'preact/hooks';
import { client } from '../../api/client.ts';
import type { NewApiKey } from '../../api/types.ts';
import { ConfirmButton, DialogButton } from '../../components/dialog-button.tsx';
import { Field } from '../../components/field.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { ListView } from '../../components/table.tsx';
import { Command, Empty } from '../../components/values.tsx';
import { useList } from '../../data/use-list.ts';
import { useProject } from './project-context.ts';

export function ApiKeys() {
  const { project } = useProject();
  const params = { id: project.id };
  const list = useList('apiKeys.list', { params });
  const [created, setCreated] = useState<NewApiKey | null>(null);
  return (
    <>
      <PageHead title="Keys of data planes">
        <DialogButton
          primary
          label="New key"
          title="New key"
          action="Create"
          start={{ name: '' }}
          act={(body) => client.call('apiKeys.create', { params, body })}
          onDone={(key) => {
            setCreated(key);
            list.reload();
          }}
        >
          {({ values, set }) => (
            <Field
              label="Name"
              value={values.name}
              onInput={(name) => set({ name })}
              required
              autofocus
              maxLength={200}
              hint="Such as the site of the gateways that use it."
            />
          )}
        </DialogButton>
      </PageHead>
      <ListView
        caption="Keys"
        list={list}
        rowKey={({ id }) => id}
        empty={
          <Empty title="There is no key yet">
            <p>A gateway connects with a key of its project.</p>
            <Command text={`gw-control api-keys create edge --project ${project.name}`} />
          </Empty>
        }
        columns={({ actions, name, status, time }) => [
          name(({ name: text, prefix }) => ({ text, note: <code class="muted">{prefix}…</code> })),
          status(({ revoked_at }) => (revoked_at === null ? 'active' : 'revoked')),
          time('Created', ({ created_at }) => created_at),
          time('Last used', ({ last_used_at }) => last_used_at),
          actions(({ id, name, revoked_at }) =>
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
          ),
        ]}
      />
      {created && (
        <ShownOnce title={`Key ${created.name}`} secret={created.key} what="key" onClose={() => setCreated(null)} />
      )}
    </>
  );
}
