import { cpus, loadavg, totalmem } from 'node:os'
import type { Cores } from './processes/cores.ts'

/** What the figures depend on besides the product. */
export function describeMachine(cores: Cores | undefined): string[] {
  const all = cpus()
  const model = all[0]?.model.trim() ?? 'unknown CPU'
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  const pinning =
    cores === undefined
      ? 'processes are not pinned'
      : `pinned with taskset: server on core ${cores.server}, load on core ${cores.load}`
  return [
    `${all.length} cores, ${model}, ${memory}, ${process.platform} ${process.arch}`,
    `Node.js ${process.versions.node}; ${pinning}`,
    loadLine(),
  ]
}

/** How busy the machine is with other things, if it is read before a run. */
export function loadLine(): string {
  const averages = loadavg().map((average) => average.toFixed(2))
  return `load average ${averages.join(' ')} (1, 5, 15 min)`
}
