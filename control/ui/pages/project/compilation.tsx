/** One compilation: how far it is, as it goes, and what came of it. */

import { useEffect, useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso/router';
import { client } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import type { Compilation } from '../../api/types.ts';
import { ConfirmButton } from '../../components/dialog-button.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Pending } from '../../components/table.tsx';
import { Hash, Status, Time } from '../../components/values.tsx';
import { useAnswer } from '../../data/use-answer.ts';
import { DeployButton } from './deploy-button.tsx';
import { DiagnosticsOfProject } from './diagnostics.tsx';
import { useProject } from './project-context.ts';

const STAGES = ['pending', 'reading', 'compiling', 'storing', 'done'] as const;
const LABELS: Readonly<Record<(typeof STAGES)[number], string>> = {
  pending: 'Queued',
  reading: 'Reading',
  compiling: 'Compiling',
  storing: 'Storing',
  done: 'Done',
};

export function CompilationPage() {
  const { base } = useProject();
  const { route } = useLocation();
  const { params } = useRoute();
  const id = params['compilation'] ?? '';
  const { compilation, error, reload } = useCompilation(id);
  if (compilation === undefined) return <Pending what="the compilation" error={error} reload={reload} />;
  const { status, artifact_id, artifact_hash, errors = [], warnings } = compilation;
  const ended = status === 'succeeded' || status === 'failed';
  return (
    <>
      <PageHead title="Compilation" above={{ href: `${base}/compilations`, label: 'Compilations' }}>
        {artifact_id && <DeployButton artifactId={artifact_id} hash={artifact_hash ?? ''} primary />}
        {ended && may('editor') && (
          <ConfirmButton
            label="Delete"
            title="Delete this record?"
            action="Delete"
            act={() => client.call('compilations.delete', { params: { id } })}
            done="Deleted the compilation."
            onDone={() => route(`${base}/compilations`)}
          >
            <p>The artifact that came of it stays.</p>
          </ConfirmButton>
        )}
      </PageHead>
      <section class="card pad" aria-label="Progress">
        <Progress compilation={compilation} />
        <dl class="facts">
          <dt>Status</dt>
          <dd>
            <Status value={status} />
          </dd>
          <dt>Build</dt>
          <dd>{compilation.production ? 'production' : 'development'}</dd>
          <dt>Asked for</dt>
          <dd>
            <Time at={compilation.created_at} />
          </dd>
          {compilation.completed_at && (
            <>
              <dt>Took</dt>
              <dd>{took(compilation)}</dd>
            </>
          )}
          {artifact_id && (
            <>
              <dt>Artifact</dt>
              <dd>
                <a href={`${base}/artifacts`}>
                  <Hash value={artifact_hash} />
                </a>
              </dd>
            </>
          )}
        </dl>
      </section>
      <DiagnosticsOfProject compilation={compilation} diagnostics={[...errors, ...warnings]} />
    </>
  );
}

/** By its stream of events while it goes on; afterwards it does not change. */
function useCompilation(id: string) {
  const { data, error, reload } = useAnswer('compilations.get', { params: { id } });
  const [latest, setLatest] = useState<Compilation>();
  const running = data?.status === 'pending' || data?.status === 'compiling';
  useEffect(() => {
    if (!running) return;
    const abort = new AbortController();
    const follow = async () => {
      const events = await client.events('compilations.events', { params: { id } }, { signal: abort.signal });
      for await (const { data } of events) setLatest(data);
    };
    follow()
      // Ended, or broken off: what is so now is asked for by itself.
      .catch(() => {})
      .finally(() => abort.signal.aborted || setTimeout(reload, 500));
    return () => abort.abort();
  }, [id, running, reload]);
  const compilation = running && latest?.id === id ? latest : data;
  return { compilation, error, reload };
}

function Progress({ compilation: { status, stage } }: { readonly compilation: Compilation }) {
  const at = status === 'succeeded' ? 'done' : status === 'pending' ? 'pending' : (stage ?? 'reading');
  const failed = status === 'failed';
  const text = failed ? 'The compilation has failed.' : at === 'done' ? 'Compiled.' : `${LABELS[at]}…`;
  return (
    <>
      {!failed && (
        <ol class="steps" aria-hidden="true">
          {STAGES.map((each, index) => (
            <li
              key={each}
              class={at === 'done' || index < STAGES.indexOf(at) ? 'done' : undefined}
              aria-current={at !== 'done' && each === at ? 'step' : undefined}
            >
              {LABELS[each]}
            </li>
          ))}
        </ol>
      )}
      <p class="visually-hidden" role="status">
        {text}
      </p>
    </>
  );
}

function took({ started_at, completed_at }: Compilation): string {
  if (!started_at || !completed_at) return '';
  const ms = Date.parse(completed_at) - Date.parse(started_at);
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}
