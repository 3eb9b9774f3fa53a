import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LoadedConfig, loadConfig } from './load.ts'
import type { Environment } from './sources/environment.ts'
import { parseSetting } from './sources/flags.ts'

type Given = {
  /** The text of `guildhall.toml` in the working directory. */
  file?: string | Buffer
  env?: Environment
  /** Texts of `--set`. */
  set?: readonly string[]
  configPath?: string
}

/** A working directory of its own, and configurations loaded in it. */
export type Workspace = {
  readonly cwd: string
  /** Writes a file that only its owner can read, and answers with its path. */
  write(name: string, content: string | Buffer, mode?: number): string
  /** Every problem of a configuration; none when it can be used. */
  problems(given: Given): Promise<readonly string[]>
  /** A configuration that must be usable. */
  load(given: Given): Promise<LoadedConfig>
  remove(): void
}

export function createWorkspace(): Workspace {
  const cwd = mkdtempSync(join(tmpdir(), 'guildhall-config-'))

  function write(name: string, content: string | Buffer, mode = 0o600): string {
    const path = join(cwd, name)
    writeFileSync(path, content)
    chmodSync(path, mode)
    return path
  }

  function resolve({ file, env = {}, set = [], configPath }: Given) {
    rmSync(join(cwd, 'guildhall.toml'), { force: true })
    if (file !== undefined) write('guildhall.toml', file)
    const flags = set.map((text) => parseSetting(text)).filter((flag) => flag !== undefined)
    return loadConfig({ env, cwd, flags, configPath })
  }

  return {
    cwd,
    write,
    async problems(given) {
      const result = await resolve(given)
      return result.ok ? [] : result.problems
    },
    async load(given) {
      const result = await resolve(given)
      if (!result.ok) throw new Error(result.problems.join('\n'))
      return result
    },
    remove: () => rmSync(cwd, { recursive: true, force: true }),
  }
}
