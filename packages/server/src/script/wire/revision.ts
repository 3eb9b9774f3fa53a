import { createHash } from 'node:crypto'

/** One local file of a script: its path below the scripts folder, with `/`, and its bytes. */
export type ScriptFile = { readonly path: string; readonly bytes: Uint8Array }

/**
 * Names the content of a script: the hash of its only file, or of the list of its files sorted by
 * the bytes of their paths. Equal content has an equal name on every node.
 */
export function revisionId(files: readonly ScriptFile[]): string {
  const [first] = files
  if (first && files.length === 1) return `sha256:${sha256(first.bytes)}`
  const sorted = [...files].sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
  const lines = sorted.map(({ path, bytes }) => `${sha256(bytes)} ${path}\n`)
  return `sha256:${sha256(lines.join(''))}`
}

function sha256(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex')
}
