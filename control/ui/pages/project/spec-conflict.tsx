/** Someone else uploaded a revision while this one was written: compare, take theirs, or upload over it. */
import { useState } from 'preact/hooks';
import { ApiError } from '../../../src/client/api-error.ts';
import { client } from '../../api/client.ts';
import type { SpecRevision } from '../../api/types.ts';
import { ConfirmButton } from '../../components/dialog-button.tsx';
import { Problem } from '../../components/problem.tsx';
import { Loading } from '../../components/table.tsx';
import { useLoaded } from '../../data/use-loaded.ts';
import { Diff } from '../../editor/editor.tsx';

interface SpecConflictProps {
  readonly specId: string;
  readonly filename: string;
  /** The text of this editor. */
  readonly text: string;
  readonly busy: boolean;
  /** Uploads it all the same: over the revision with this ETag, or anew where the spec is gone. */
  readonly onOverwrite: (etag: string | null) => void;
  /** Discards the text of this editor. */
  readonly onTakeTheirs: () => void;
}

interface Latest {
  readonly etag: string | null;
  readonly revision: SpecRevision;
  readonly text: string;
}

export function SpecConflict({ specId, filename, text, busy, onOverwrite, onTakeTheirs }: SpecConflictProps) {
  const [comparing, setComparing] = useState(false);
  const { data, error, reload } = useLoaded(specId, (signal) => latestOf(specId, signal));
  if (error instanceof ApiError && error.status === 404) {
    return (
      <div class="notice warning">
        <p>The spec was deleted meanwhile. What you wrote is still here.</p>
        <button type="button" class="button primary" aria-disabled={busy} onClick={() => onOverwrite(null)}>
          Upload it as a new spec
        </button>
      </div>
    );
  }
  if (error !== undefined) return <Problem error={error} onRetry={reload} />;
  if (data === undefined) return <Loading what="the latest revision" />;
  const { etag, revision } = data;
  return (
    <>
      <div class="notice warning">
        <p>
          <strong>
            {revision.created_by} uploaded revision {revision.revision} meanwhile.
          </strong>{' '}
          What you wrote is still here, and nowhere else.
        </p>
        <div class="toolbar">
          <button type="button" class="button small" aria-pressed={comparing} onClick={() => setComparing(!comparing)}>
            Compare
          </button>
          <ConfirmButton
            label="Take theirs"
            title="Give up what you wrote?"
            action="Take theirs"
            act={async () => {}}
            done={`Revision ${revision.revision} is shown.`}
            onDone={onTakeTheirs}
          >
            <p>Revision {revision.revision} takes its place here.</p>
          </ConfirmButton>
          <button type="button" class="button small" aria-disabled={busy} onClick={() => onOverwrite(etag)}>
            Upload over it
          </button>
        </div>
      </div>
      {comparing && (
        <section class="card" aria-label={`Revision ${revision.revision} and what you wrote`}>
          <Diff before={data.text} after={text} filename={filename} />
        </section>
      )}
    </>
  );
}

async function latestOf(specId: string, signal: AbortSignal): Promise<Latest> {
  const params = { id: specId };
  const { value: spec, etag } = await client.read('specs.get', { params }, { signal });
  const [revision] = await client.list('specs.history', { params }, { signal, limit: 1 });
  if (revision === undefined) throw new Error(`the spec ${spec.name} has no revisions`);
  const query = { revision: revision.revision, bindings: 'without' as const };
  const content = await client.response('specs.content', { params, query }, { signal });
  return { etag, revision, text: await content.text() };
}
