/** Overview of a project: its deployed artifact and its latest events. */
import type { ComponentChildren } from 'preact';
import type { Compilation, DataPlane, Deployment, Spec } from '../../api/types.ts';
import { PageHead } from '../../components/page-head.tsx';
import { Problem } from '../../components/problem.tsx';
import { Loading, Pending } from '../../components/table.tsx';
import { Command, Hash, Status, Time } from '../../components/values.tsx';
import { useLiveReload } from '../../data/live.ts';
import { useAnswer } from '../../data/use-answer.ts';
import { type LoadedList, useAll, useList } from '../../data/use-list.ts';
import type { Loaded } from '../../data/use-loaded.ts';
import { CompileButton } from './compile-button.tsx';
import { useProject } from './project-context.ts';

export function Overview() {
  const { project, base } = useProject();
  const params = { id: project.id };
  const planes = useAll('dataPlanes.list', { params });
  const deployments = useList('deployments.list', { params, query: { limit: 5 } });
  const compilations = useList('compilations.listOfProject', { params, query: { limit: 5 } });
  const specs = useList('specs.listOfProject', { params, query: { limit: 1 } });
  useLiveReload(['data_plane'], planes.reload);
  useLiveReload(['deployment'], deployments.reload);
  useLiveReload(['compilation'], compilations.reload);
  return (
    <>
      <PageHead title={project.name}>
        <CompileButton />
      </PageHead>
      {project.description && <p class="lead">{project.description}</p>}
      <NextStep specs={specs} compilations={compilations} deployments={deployments} planes={planes} />
      <div class="panels">
        <Deployed />
        <Planes planes={planes} />
        <Panel title="Latest deployments" href={`${base}/deployments`}>
          <Few list={deployments} none="Nothing has been deployed.">
            {(deployment) => (
              <li key={deployment.deployment_id}>
                <Status value={deployment.status} />
                <a href={`${base}/deployments/${deployment.deployment_id}`}>
                  {deployment.kind.replaceAll('_', ' ')} <Hash value={deployment.artifact_hash} />
                </a>
                <span class="muted">
                  <Time at={deployment.created_at} />
                </span>
              </li>
            )}
          </Few>
        </Panel>
        <Panel title="Latest compilations" href={`${base}/compilations`}>
          <Few list={compilations} none="Nothing has been compiled.">
            {(compilation) => (
              <li key={compilation.id}>
                <Status value={compilation.status} />
                <a href={`${base}/compilations/${compilation.id}`}>
                  {compilation.specs.length === 1 ? '1 spec' : `${compilation.specs.length} specs`}
                  {compilation.production ? ', production' : ''}
                </a>
                <span class="muted">
                  <Time at={compilation.created_at} />
                </span>
              </li>
            )}
          </Few>
        </Panel>
      </div>
    </>
  );
}

function Panel({ title, href, children }: { title: string; href: string; children: ComponentChildren }) {
  return (
    <section class="card panel" aria-label={title}>
      <h2>
        <a href={href}>{title}</a>
      </h2>
      {children}
    </section>
  );
}

interface FewProps<T> {
  readonly list: LoadedList<T>;
  readonly none: string;
  readonly children: (item: T) => ComponentChildren;
}

function Few<T>({ list, none, children }: FewProps<T>) {
  if (list.items === undefined) return <Pending what="the list" {...list} />;
  return list.items.length === 0 ? <p class="muted">{none}</p> : <ul class="few">{list.items.map(children)}</ul>;
}

function Deployed() {
  const { project, base } = useProject();
  const id = project.deployed_artifact_id;
  return (
    <Panel title="Deployed artifact" href={`${base}/artifacts`}>
      {id === null ? <p class="muted">Data planes that connect get nothing yet.</p> : <DeployedArtifact id={id} />}
    </Panel>
  );
}

function DeployedArtifact({ id }: { readonly id: string }) {
  const { data, error, loading, reload } = useAnswer('artifacts.get', { params: { id } });
  return (
    <>
      {loading && <Loading what="the artifact" />}
      <Problem error={error} onRetry={reload} />
      {data && (
        <dl class="facts">
          <dt>Hash</dt>
          <dd>
            <Hash value={data.artifact_hash} />
          </dd>
          <dt>Routes</dt>
          <dd>{data.routes_count}</dd>
          <dt>Signed</dt>
          <dd>{data.signed ? 'yes' : 'no'}</dd>
          <dt>Compiled</dt>
          <dd>
            <Time at={data.created_at} /> by {data.created_by}
          </dd>
        </dl>
      )}
    </>
  );
}

function Planes({ planes }: { readonly planes: Loaded<readonly DataPlane[]> }) {
  const { base } = useProject();
  const counts = new Map<DataPlane['status'], number>();
  for (const { status } of planes.data ?? []) counts.set(status, (counts.get(status) ?? 0) + 1);
  return (
    <Panel title="Data planes" href={`${base}/data-planes`}>
      {planes.loading && <Loading what="data planes" />}
      <Problem error={planes.error} onRetry={planes.reload} />
      {planes.data?.length === 0 && <p class="muted">None has connected yet.</p>}
      <ul class="counts">
        {[...counts].map(([status, count]) => (
          <li key={status}>
            <b>{count}</b> <Status value={status} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

interface NextStepProps {
  readonly specs: LoadedList<Spec>;
  readonly compilations: LoadedList<Compilation>;
  readonly deployments: LoadedList<Deployment>;
  readonly planes: Loaded<readonly DataPlane[]>;
}

/** Until the project serves, what is to be done next. */
function NextStep({ specs, compilations, deployments, planes }: NextStepProps) {
  const { project, base } = useProject();
  if (!specs.items || !compilations.items || !deployments.items || !planes.data) return null;
  const steps = [
    { done: specs.items.length > 0, label: 'Upload a spec', href: `${base}/specs` },
    {
      done: compilations.items.some(({ status }) => status === 'succeeded'),
      label: 'Compile',
      href: `${base}/compilations`,
    },
    { done: project.deployed_artifact_id !== null, label: 'Deploy the artifact', href: `${base}/artifacts` },
    { done: planes.data.length > 0, label: 'Connect a data plane', href: `${base}/data-planes` },
  ];
  const next = steps.find(({ done }) => !done);
  if (next === undefined) return null;
  return (
    <section class="card next" aria-label="Next step">
      <ol class="steps">
        {steps.map(({ done, label, href }) => (
          <li key={label} class={done ? 'done' : undefined} aria-current={next.label === label ? 'step' : undefined}>
            <a href={href}>{label}</a>
            {done && <span class="visually-hidden"> (done)</span>}
          </li>
        ))}
      </ol>
      {next.label === 'Connect a data plane' && <ConnectCommand />}
    </section>
  );
}

/** How a gateway is started for this project. */
export function ConnectCommand() {
  const { project } = useProject();
  return (
    <Command
      text={`GW_API_KEY=… gw serve --control-plane ${location.origin.replace(/^http/, 'ws')}/ws/data-plane --project-id ${project.id} --cache-dir ./cache`}
    />
  );
}
