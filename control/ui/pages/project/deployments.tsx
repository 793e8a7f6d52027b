/** Deployments of a project: what is on its way, and what was before. */
import type { Deployment } from '../../api/types.ts';
import { PageHead } from '../../components/page-head.tsx';
import { ListView } from '../../components/table.tsx';
import { Command, Empty, Hash } from '../../components/values.tsx';
import { useLiveReload } from '../../data/live.ts';
import { useList } from '../../data/use-list.ts';
import { DeployButton } from './deploy-button.tsx';
import { useProject } from './project-context.ts';

export function Deployments() {
  const { project, base } = useProject();
  const list = useList('deployments.list', { params: { id: project.id } });
  useLiveReload(['deployment'], list.reload);
  const before = list.items?.some(({ previous_artifact_id }) => previous_artifact_id !== null);
  return (
    <>
      <PageHead title="Deployments">{before && <DeployButton artifactId={null} hash="" primary rollback />}</PageHead>
      <ListView
        caption="Deployments"
        list={list}
        rowKey={({ deployment_id }) => deployment_id}
        empty={
          <Empty title="Nothing has been deployed">
            <p>
              Deploy one of the <a href={`${base}/artifacts`}>artifacts</a>: every connected data plane loads it.
            </p>
            <Command text={`gw-control deploy --project ${project.name} --wait`} />
          </Empty>
        }
        columns={({ actions, status, time }) => [
          status(({ status }) => status),
          {
            label: 'Artifact',
            kind: 'grow',
            cell: (deployment) => (
              <>
                <a href={`${base}/deployments/${deployment.deployment_id}`}>
                  <Hash value={deployment.artifact_hash} />
                </a>{' '}
                {deployment.kind !== 'deploy' && (
                  <span class="status quiet">{deployment.kind.replaceAll('_', ' ')}</span>
                )}
                {deployment.reason && <div class="muted clamp">{deployment.reason}</div>}
              </>
            ),
          },
          { label: 'Data planes', cell: (deployment) => <Outcome {...deployment} /> },
          { label: 'By', cell: ({ created_by }) => created_by },
          time('Begun', ({ created_at }) => created_at),
          actions(({ artifact_id, artifact_hash, status }) =>
            status === 'succeeded' && artifact_id !== null && artifact_id !== project.deployed_artifact_id ? (
              <DeployButton artifactId={artifact_id} hash={artifact_hash} rollback />
            ) : null,
          ),
        ]}
      />
    </>
  );
}

/** How many data planes serve it. */
export function Outcome({ target_data_planes, applied, refused }: Deployment) {
  if (target_data_planes === 0) return <span class="muted">none connected</span>;
  return (
    <>
      {applied} of {target_data_planes}
      {refused > 0 && <span class="bad-text">, {refused} refused</span>}
    </>
  );
}
