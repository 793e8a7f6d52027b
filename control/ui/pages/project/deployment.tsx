/** One deployment, with its live progress at each data plane. */
import { useRoute } from 'preact-iso/router';
import { PageHead } from '../../components/page-head.tsx';
import { Pending, Table } from '../../components/table.tsx';
import { Hash, Status, Time } from '../../components/values.tsx';
import { useLiveReload } from '../../data/live.ts';
import { useAnswer } from '../../data/use-answer.ts';
import { Outcome } from './deployments.tsx';
import { useProject } from './project-context.ts';

export function DeploymentPage() {
  const { project, base } = useProject();
  const { deployment = '' } = useRoute().params;
  const params = { id: project.id, deployment_id: deployment };
  const { data, error, reload } = useAnswer('deployments.get', { params });
  useLiveReload(['deployment', 'data_plane'], reload, 150);
  if (data === undefined) return <Pending what="the deployment" error={error} reload={reload} />;
  const answered = data.target_data_planes - data.waiting;
  return (
    <>
      <PageHead title="Deployment" above={{ href: `${base}/deployments`, label: 'Deployments' }} />
      <section class="card pad" aria-label="Outcome">
        <div class="outcome" role="status">
          <Status value={data.status} />
          {data.target_data_planes > 0 && (
            <span>
              <Outcome {...data} /> data planes serve it
              {data.waiting > 0 && `, waiting for ${data.waiting}`}
            </span>
          )}
        </div>
        {data.target_data_planes > 0 && (
          <progress class={data.refused > 0 ? 'bad' : undefined} max={data.target_data_planes} value={answered}>
            {answered} of {data.target_data_planes}
          </progress>
        )}
        {data.reason && <p>{data.reason}</p>}
        {data.warning && <p class="bad-text">{data.warning}</p>}
        {data.target_data_planes === 0 && (
          <p class="muted">No data plane was connected when it began: those that connect get this artifact.</p>
        )}
        <dl class="facts">
          <dt>Artifact</dt>
          <dd>
            <Hash value={data.artifact_hash} />
          </dd>
          <dt>Kind</dt>
          <dd>{data.kind.replaceAll('_', ' ')}</dd>
          <dt>Begun</dt>
          <dd>
            <Time at={data.created_at} /> by {data.created_by}
          </dd>
          {data.completed_at && (
            <>
              <dt>Ended</dt>
              <dd>
                <Time at={data.completed_at} />
              </dd>
            </>
          )}
          {data.rollback_of && (
            <>
              <dt>Rolls back</dt>
              <dd>
                <a href={`${base}/deployments/${data.rollback_of}`}>
                  <Hash value={data.rollback_of} />
                </a>
              </dd>
            </>
          )}
        </dl>
      </section>
      {data.targets.length > 0 && (
        <section class="card" aria-label="Data planes">
          <h2 class="card-title">Data planes</h2>
          <Table
            caption="Result at each data plane"
            rows={data.targets}
            rowKey={({ data_plane_id }) => data_plane_id}
            columns={({ status, time }) => [
              { label: 'Name', kind: 'grow', cell: ({ name }) => name },
              status(({ status }) => status),
              { label: 'Serves', cell: ({ served_hash }) => <Hash value={served_hash} /> },
              { label: 'Reason', cell: ({ reason }) => reason ?? <span class="muted">none</span> },
              time('Heard of', ({ updated_at }) => updated_at),
            ]}
          />
        </section>
      )}
    </>
  );
}
