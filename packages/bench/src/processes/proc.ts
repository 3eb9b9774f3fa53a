import { readFileSync } from 'node:fs'

/** Clock ticks per second of /proc, which Linux fixes for programs whatever the kernel uses. */
const ticksPerSecond = 100

/** CPU time of all threads of a process, in milliseconds, to the nearest 10. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The name of the program, in parentheses, may contain anything; fields 14 and 15 come after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond
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
