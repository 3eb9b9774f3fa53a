import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Harness, type HarnessOptions, shareHarness, startHarness } from '../host.fixture.ts'

/** A host that follows its files, and ways to change them. */
export async function startReloading(options: HarnessOptions): Promise<Reloading> {
  return changing(await startHarness(followingFiles(options)))
}

/** The same for all tests of a group. */
export function shareReloading(options: HarnessOptions): () => Reloading {
  const shared = shareHarness(followingFiles(options))
  return () => changing(shared())
}

export type Reloading = ReturnType<typeof changing>

function followingFiles({ config, ...options }: HarnessOptions): HarnessOptions {
  return { ...options, config: { hot_reload: true, ...config } }
}

function changing(harness: Harness) {
  const { folder, host, until } = harness
  const activations = () => host.failures().reloads

  /** As an editor saves: beside it first, then under its name. */
  function save(path: string, text: string): void {
    const at = join(folder, path)
    mkdirSync(dirname(at), { recursive: true })
    writeFileSync(`${at}~`, text)
    renameSync(`${at}~`, at)
  }

  return {
    ...harness,
    activations,
    save,
    remove: (path: string) => rmSync(join(folder, path)),
    /** Waits for so many activations and rejections, the boot's included; answers with the last. */
    async seen(count: number) {
      await until(() => activations().length >= count)
      const [last] = activations()
      if (last === undefined) throw new Error('no activation was waited for')
      return last
    },
    generation: () => host.describe().readiness.generation,
    state: () => host.readiness().state,
  }
}

/** A script that answers `version` with a number. */
export function version(n: number, more = ''): string {
  return `guildhall.on_rpc('version', () => '${n}')\n${more}`
}
