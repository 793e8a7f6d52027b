/** Data planes of a project, as they come and go. */
import { useState } from 'preact/hooks';
import { client } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import type { DataPlane } from '../../api/types.ts';
import { ConfirmButton } from '../../components/dialog-button.tsx';
import { Filter } from '../../components/field.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { ListView } from '../../components/table.tsx';
import { Empty, Hash } from '../../components/values.tsx';
import { useLiveReload } from '../../data/live.ts';
import { useList } from '../../data/use-list.ts';
import { ConnectCommand } from './overview.tsx';
import { useProject } from './project-context.ts';

export function DataPlanes() {
  const { project, base } = useProject();
  const [filter, setFilter] = useState('');
  const params = { id: project.id };
  const list = useList('dataPlanes.list', { params, query: { limit: 200 } });
  useLiveReload(['data_plane', 'deployment'], list.reload);
  const only = ({ name, status, address }: DataPlane) =>
    `${name} ${status} ${address ?? ''}`.toLowerCase().includes(filter.toLowerCase());
  return (
    <>
      <PageHead title="Data planes" />
      <div class="toolbar">
        <Filter label="Filter by name, status or address" value={filter} onInput={setFilter} />
      </div>
      <ListView
        caption="Data planes"
        list={list}
        only={only}
        rowKey={({ id }) => id}
        empty={
          <Empty title="No data plane has connected yet">
            <p>
              Make a key on the page <a href={`${base}/keys`}>Keys</a>, and start a gateway with it:
            </p>
            <ConnectCommand />
          </Empty>
        }
        columns={({ actions, name, status, time }) => [
          name(({ name: text, gw_version, address }) => ({
            text,
            below: `gw ${gw_version}${address ? `, ${address}` : ''}`,
          })),
          status(({ status }) => status),
          {
            label: 'Serves',
            cell: ({ current_artifact_hash, current_artifact_id, status }) => (
              <span class="row">
                <Hash value={current_artifact_hash} />
                {status === 'connected' && current_artifact_id === project.deployed_artifact_id && (
                  <span class="muted">as deployed</span>
                )}
              </span>
            ),
          },
          time('Last seen', ({ last_seen_at }) => last_seen_at),
          actions(({ id, name, status }) =>
            status !== 'disconnected' && may('deployer') ? (
              <ConfirmButton
                label="Disconnect"
                title={`Disconnect ${name}?`}
                action="Disconnect"
                act={() => client.call('dataPlanes.disconnect', { params: { ...params, dp_id: id } })}
                done={`Disconnected ${name}.`}
                onDone={list.reload}
              >
                <p>It serves on, and connects again by itself. To keep it out, revoke its key.</p>
              </ConfirmButton>
            ) : null,
          ),
        ]}
      />
    </>
  );
}
