import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type HarnessOptions, startHarness } from '../host.fixture.ts'

/** A host that follows its files, and ways to change them. */
export async function startReloading({ config, ...options }: HarnessOptions) {
  const harness = await startHarness({ ...options, config: { hot_reload: true, ...config } })
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
