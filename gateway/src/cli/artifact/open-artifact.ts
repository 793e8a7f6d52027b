/** How commands that look into an artifact read it: verified, or not at all. */
import { ArtifactError } from '../../artifact/error.ts';
import { type Artifact, readArtifact } from '../../artifact/read.ts';
import { KeyError } from '../../artifact/signature.ts';
import { printable } from '../../text/printable.ts';
import { EXIT_FAILURE, type Program } from '../command-line/program.ts';

/**
 * Prints one line on stderr, sets the exit code and returns null if the artifact is unreadable, has been changed, or
 * lacks a trusted signature.
 */
export async function openArtifact(
  command: string,
  path: string,
  trustedKeys: readonly string[],
  program: Program,
  exitCode: number = EXIT_FAILURE,
): Promise<Artifact | null> {
  try {
    return await readArtifact(path, { trustedKeys });
  } catch (error) {
    if (!(error instanceof ArtifactError || error instanceof KeyError)) throw error;
    const place = error instanceof KeyError || error.message.includes(path) ? '' : `${path}: `;
    program.stderr(`gw ${command}: ${printable(place + error.message)}\n`);
    program.exit(exitCode);
    return null;
  }
}
