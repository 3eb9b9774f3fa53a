// Held from the start: a script that shares the process may delete it.
const { getBuiltinModule } = process

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

/** At most so many names are shown of the files that changed. */
const namesMax = 20

/** Which files differ between two revisions, are new or are gone, by name. */
export function changedFiles(
  before: readonly ScriptFile[],
  after: readonly ScriptFile[],
): string[] {
  const hashes = (files: readonly ScriptFile[]) =>
    new Map(files.map(({ path, bytes }) => [path, sha256(bytes)]))
  const [old, fresh] = [hashes(before), hashes(after)]
  const paths = [...new Set([...old.keys(), ...fresh.keys()])].sort()
  return paths.filter((path) => old.get(path) !== fresh.get(path)).slice(0, namesMax)
}

export function sha256(content: Uint8Array | string): string {
  // Loaded by those alone who need it: a worker may begin without.
  const { createHash } = getBuiltinModule('node:crypto')
  return createHash('sha256').update(content).digest('hex')
}
