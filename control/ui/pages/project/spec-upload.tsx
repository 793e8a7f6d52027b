/** Takes a spec by file picker or by drag and drop. */
import { useId, useState } from 'preact/hooks';
import { upload } from '../../api/client.ts';
import { ApiError } from '../../api/problem.ts';
import type { SpecUpload } from '../../api/types.ts';
import { Problem } from '../../components/problem.tsx';
import { useAction } from '../../data/use-action.ts';
import { useProject } from './project-context.ts';
import type { Refused } from './spec-draft.tsx';

interface UploadProps {
  readonly onUploaded: (uploaded: SpecUpload) => void;
  /** The document is no valid spec: it is shown with what is wrong. */
  readonly onRefused: (refused: Refused) => void;
}

export function SpecUploadZone({ onUploaded, onRefused }: UploadProps) {
  const { project } = useProject();
  const id = useId();
  const [over, setOver] = useState(false);
  const { run, busy, error } = useAction(async (file: File) => {
    try {
      onUploaded(await uploadSpec(project.id, file));
    } catch (failure) {
      if (!(failure instanceof ApiError) || failure.status !== 422 || isArchive(file.name)) throw failure;
      onRefused({ filename: file.name, text: await file.text(), error: failure });
    }
  });
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is beside the file picker, which keys reach */}
      <div
        class={over ? 'drop over' : 'drop'}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          const file = event.dataTransfer?.files[0];
          if (file) run(file);
        }}
      >
        <input
          id={id}
          type="file"
          class="visually-hidden"
          accept=".yaml,.yml,.json,.tar,.tgz,.tar.gz"
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? [];
            if (file) run(file);
            event.currentTarget.value = '';
          }}
        />
        <label for={id} class="button">
          {busy ? 'Uploading…' : 'Choose a spec'}
        </label>
        <span>or drop it here. YAML or JSON, or a .tar.gz of a document and the files that it refers to.</span>
      </div>
      <Problem error={error} />
    </>
  );
}

const isArchive = (filename: string) => /\.(tar|tgz|tar\.gz)$/.test(filename);

/** A new spec, or the next revision of the one with this name; `etag`: only where that is still its latest. */
export function uploadSpec(projectId: string, file: File, name?: string, etag?: string | null): Promise<SpecUpload> {
  const form = new FormData();
  if (name !== undefined) form.set('name', name);
  form.set('file', file);
  return upload<SpecUpload>(`/projects/${projectId}/specs`, form, etag);
}
