import type { Config } from '../config/schema.ts'

/** Where the node of a configuration is reached on its own machine. */
export function nodeUrl({ http }: Config): string {
  const scheme = http.tls.certificate_file === undefined ? 'http' : 'https'
  return `${scheme}://${reachable(http.bind)}`
}

/**
 * CPU time that the node's process and those of its script have used so far, in seconds; undefined
 * when its metrics are off or need a key.
 */
export async function readCpuSeconds({ metrics }: Config): Promise<number | undefined> {
  if (!metrics.enabled) return undefined
  try {
    const answer = await fetch(`http://${reachable(metrics.bind)}${metrics.path}`)
    if (!answer.ok) return undefined
    const found = [...(await answer.text()).matchAll(cpuLines)].map(([, value]) => Number(value))
    return found.length === 0 ? undefined : found.reduce((sum, value) => sum + value, 0)
  } catch {
    return undefined
  }
}

const cpuLines = /^guildhall_(?:script_)?process_cpu_seconds_total (\S+)$/gm

/** An address that listens everywhere is reached by the one of this machine. */
function reachable(bind: string): string {
  return bind.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:')
}
