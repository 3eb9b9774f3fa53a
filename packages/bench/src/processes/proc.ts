import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks per second of /proc, which Linux fixes for programs whatever the kernel uses. */
const ticksPerSecond = 100

/** CPU time of all threads of a process, in milliseconds, to the nearest 10. */
export function cpuMsOf(pid: number): number {
  const { user, system } = statOf(pid)
  return ((user + system) * 1000) / ticksPerSecond
}

/** The same of a process, those that it started, those that they started, and so on. */
export function cpuMsOfFamily(pid: number): number {
  return startedBy(pid).reduce((ms, each) => ms + cpuMsOf(each), cpuMsOf(pid))
}

/** The processes that a process started, those that they started, and so on. */
export function startedBy(pid: number): number[] {
  const childrenOf = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? parentOf(Number(name)) : undefined
    if (parent !== undefined)
      childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), Number(name)])
  }
  const below = (each: number): number[] =>
    (childrenOf.get(each) ?? []).flatMap((child) => [child, ...below(child)])
  return below(pid)
}

/** Undefined for a process that has just ended. */
function parentOf(pid: number): number | undefined {
  try {
    return statOf(pid).parent
  } catch {
    return undefined
  }
}

function statOf(pid: number) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The name of the program, in parentheses, may contain anything; fields 4, 14, 15 come after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { parent: Number(fields[1]), user: Number(fields[11]), system: Number(fields[12]) }
}

/** Memory of a process that is in RAM, in bytes. */
export function residentBytesOf(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? []
  return Number(kib) * 1024
}

/** How many files and sockets this process and those it starts may have open. */
export function openFilesMax(): number {
  const limits = readFileSync('/proc/self/limits', 'latin1')
  const [, soft] = /^Max open files\s+(\S+)/m.exec(limits) ?? []
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
}
