/** Takes a spec by file picker or by drag and drop. */
import { useId, useState } from 'preact/hooks';
import { ApiError } from '../../../src/client/api-error.ts';
import { client, ifMatch } from '../../api/client.ts';
import type { BindingDecision, SpecUpload } from '../../api/types.ts';
import { FormDialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { Problem } from '../../components/problem.tsx';
import { useAction } from '../../data/use-action.ts';
import { BindingQuestion, wantsDecision } from './binding-decision.tsx';
import type { Refused } from './draft.ts';
import { useProject } from './project-context.ts';

interface UploadProps {
  readonly onUploaded: (uploaded: SpecUpload) => void;
  /** The document is not a valid spec: it is shown with its diagnostics. */
  readonly onRefused: (refused: Refused) => void;
}

export function SpecUploadZone({ onUploaded, onRefused }: UploadProps) {
  const { project } = useProject();
  const id = useId();
  const [over, setOver] = useState(false);
  const [unnamed, setUnnamed] = useState<File | null>(null);
  const [last, setLast] = useState<{ file: File; name: string | undefined } | null>(null);
  const { run, busy, error } = useAction(async (file: File, name?: string, bindings?: BindingDecision) => {
    setLast({ file, name });
    try {
      onUploaded(await uploadSpec(project.id, file, { name, bindings }));
    } catch (failure) {
      if (!(failure instanceof ApiError) || failure.status !== 422 || isArchive(file.name)) throw failure;
      onRefused({ specId: null, filename: file.name, text: await file.text(), error: failure, name });
    }
  });
  const take = (file: File | undefined) => {
    if (file && NAMES_NO_SPEC.test(file.name)) setUnnamed(file);
    else if (file) run(file);
  };
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
          take(event.dataTransfer?.files[0]);
        }}
      >
        <input
          id={id}
          type="file"
          class="visually-hidden"
          accept=".yaml,.yml,.json,.tar,.tgz,.tar.gz"
          onChange={(event) => {
            take(event.currentTarget.files?.[0]);
            event.currentTarget.value = '';
          }}
        />
        <label for={id} class="button">
          {busy ? 'Uploading…' : 'Choose a spec'}
        </label>
        <span>or drop it here. YAML or JSON, or a .tar.gz of a document and the files that it refers to.</span>
      </div>
      {last && wantsDecision(error) ? (
        <BindingQuestion error={error} busy={busy} onDecide={(decision) => run(last.file, last.name, decision)} />
      ) : unnamed ? (
        <NameDialog
          file={unnamed}
          busy={busy}
          error={error}
          onName={(name) => run(unnamed, name)}
          onClose={() => setUnnamed(null)}
        />
      ) : (
        <Problem error={error} />
      )}
    </>
  );
}

/** `/__gw/specs/openapi` is the merged document, so no spec may be called that. */
const NAMES_NO_SPEC = /^(openapi|asyncapi)\.[^/]*$/;

interface NameDialogProps {
  readonly file: File;
  readonly busy: boolean;
  readonly error: unknown;
  readonly onName: (name: string) => void;
  readonly onClose: () => void;
}

/** Asks for the spec's name where the file has none for it. */
function NameDialog({ file, busy, error, onName, onClose }: NameDialogProps) {
  const { project } = useProject();
  const [name, setName] = useState(project.name);
  return (
    <FormDialog
      title={`Upload ${file.name}`}
      action="Upload"
      busy={busy}
      error={error}
      onSubmit={() => onName(name)}
      onClose={onClose}
    >
      <Field
        label="Name of the spec"
        value={name}
        onInput={setName}
        required
        autofocus
        maxLength={63}
        hint="Its document is compiled and served under this name. Upload under the same name for the next revision."
      />
    </FormDialog>
  );
}

const isArchive = (filename: string) => /\.(tar|tgz|tar\.gz)$/.test(filename);

interface UploadOptions {
  readonly name?: string | undefined;
  readonly etag?: string | null | undefined;
  readonly bindings?: BindingDecision | undefined;
}

/** A new spec, or the next revision of the one with this name; `etag`: only where that is still its latest. */
export function uploadSpec(
  projectId: string,
  file: File,
  { name, etag, bindings }: UploadOptions = {},
): Promise<SpecUpload> {
  const form = { name, bindings, file };
  return client.call('specs.uploadToProject', { params: { id: projectId }, form }, ifMatch(etag));
}
