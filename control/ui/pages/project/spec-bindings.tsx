/** Plugins that are bound to operations of a spec beside its document. */
import { client } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import type { SpecBinding } from '../../api/types.ts';
import { ConfirmButton } from '../../components/dialog-button.tsx';
import { ListView } from '../../components/table.tsx';
import { Command, Empty } from '../../components/values.tsx';
import { useList } from '../../data/use-list.ts';
import { Chain } from './operations.tsx';
import type { SpecState } from './spec-state.ts';

interface SpecBindingsProps {
  readonly state: SpecState;
  readonly onChanged: () => void;
}

export function SpecBindings({ state: { spec }, onChanged }: SpecBindingsProps) {
  const params = { id: spec.id };
  const list = useList('specs.bindings', { params });
  const changed = () => {
    list.reload();
    onChanged();
  };
  return (
    <ListView
      caption="Bindings"
      list={list}
      rowKey={({ id }) => id}
      empty={
        <Empty title="Nothing is bound beside the document">
          <p>Plugins that are bound here stay when the document is uploaded again:</p>
          <Command text={`gw-control specs bind ${spec.name} --patch patch.yaml`} />
        </Empty>
      }
      columns={({ actions, status, time }) => [
        {
          label: 'Operation',
          kind: 'grow',
          cell: ({ method, path, operation_id, reason }) => (
            <>
              <span class={`method ${method.toLowerCase()}`}>{method}</span> <code class="path">{path}</code>{' '}
              <span class="muted">{operation_id}</span>
              {reason !== null && <div class="muted">{reason}</div>}
            </>
          ),
        },
        status(({ state }) => state, 'State'),
        { label: 'Chain', cell: (binding) => <BoundChain binding={binding} /> },
        { label: 'By', cell: ({ created_by }) => created_by },
        time('When', ({ created_at }) => created_at),
        actions(({ id, method, path }) =>
          may('editor') ? (
            <ConfirmButton
              label="Delete"
              title={`Delete the binding of ${method} ${path}?`}
              action="Delete"
              act={() => client.call('specs.unbind', { params: { ...params, binding_id: id } })}
              done={`Deleted the binding of ${method} ${path}.`}
              onDone={changed}
            >
              <p>The chain that the document gives counts again, in a new revision.</p>
            </ConfirmButton>
          ) : null,
        ),
      ]}
    />
  );
}

/** The bound members; the rest follows the document. */
function BoundChain({ binding: { dispatch, middlewares } }: { readonly binding: SpecBinding }) {
  return (
    <>
      <Chain middlewares={middlewares ?? []} dispatch={dispatch ?? null} />
      {middlewares === null && <div class="muted">no middlewares</div>}
      {dispatch === undefined && <div class="muted">dispatcher as in the document</div>}
      {middlewares === undefined && <div class="muted">middlewares as in the document</div>}
    </>
  );
}
