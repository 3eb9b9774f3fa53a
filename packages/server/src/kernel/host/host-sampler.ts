import { readFile, stat, statfs } from 'node:fs/promises'
import { cpus, freemem, totalmem } from 'node:os'

/** What is known of the machine; nothing until the first sample. */
export type HostSample = {
  /** Whole per cent over all cores, between the last two samples. */
  cpu_usage_percent?: number
  memory?: Space & { process_used_bytes: number }
  storage?: Space & { mounted_filesystems: number }
}

type Space = { total_bytes: number; available_bytes: number; used_bytes: number }

/** Where samples come from; replaced in tests. */
export type HostReaders = {
  /** Time that all cores have spent since the machine was started, in any unit. */
  cpuTimes(): { busy: number; all: number }
  memory(): { total: number; available: number; process: number }
  /** The mounted file systems, each with the device that it lies on. */
  filesystems(): Promise<readonly { device: string; total: number; available: number }[]>
}

/** Makes what samples the machine; each call of `sample` looks once. */
export function createHostSampler(readers: HostReaders = systemReaders) {
  let known: HostSample = {}
  let last: { busy: number; all: number } | undefined

  function cpuPercent(): number | undefined {
    const now = readers.cpuTimes()
    const before = last
    last = now
    if (before === undefined || now.all <= before.all) return known.cpu_usage_percent
    const percent = Math.round((100 * (now.busy - before.busy)) / (now.all - before.all))
    return Math.min(100, Math.max(0, percent))
  }

  async function storage(): Promise<HostSample['storage']> {
    const devices = new Map<string, { total: number; available: number }>()
    for (const { device, total, available } of await readers.filesystems()) {
      if (total > 0) devices.set(device, { total, available })
    }
    if (devices.size === 0) return undefined
    const sum = { total: 0, available: 0 }
    for (const { total, available } of devices.values()) {
      sum.total += total
      sum.available += available
    }
    return { ...spaceOf(sum), mounted_filesystems: devices.size }
  }

  return {
    async sample(): Promise<void> {
      const cpu_usage_percent = cpuPercent()
      const { process, ...machine } = readers.memory()
      const disks = await storage()
      known = {
        ...(cpu_usage_percent !== undefined && { cpu_usage_percent }),
        memory: { ...spaceOf(machine), process_used_bytes: process },
        ...(disks && { storage: disks }),
      }
    },
    /** The newest sample. */
    known: () => known,
  }
}

function spaceOf({ total, available }: { total: number; available: number }): Space {
  return { total_bytes: total, available_bytes: available, used_bytes: total - available }
}

const systemReaders: HostReaders = {
  cpuTimes() {
    let busy = 0
    let all = 0
    for (const { times } of cpus()) {
      const sum = times.user + times.nice + times.sys + times.idle + times.irq
      all += sum
      busy += sum - times.idle
    }
    return { busy, all }
  },
  memory: () => ({
    total: totalmem(),
    // On Linux this is what the kernel calls available: caches count as free.
    available: Math.min(freemem(), totalmem()),
    process: process.memoryUsage.rss(),
  }),
  async filesystems() {
    const places = await mountPoints()
    const found = await Promise.all(places.map((place) => look(place).catch(() => undefined)))
    return found.filter((each) => each !== undefined)
  },
}

/** Linux lists them; elsewhere only the file system of the root is known. */
async function mountPoints(): Promise<readonly string[]> {
  const text = await readFile('/proc/self/mounts', 'utf8').catch(() => undefined)
  if (text === undefined) return ['/']
  const local = text.split('\n').filter((line) => line.startsWith('/dev/') || / \/ /.test(line))
  return local.map((line) => unescaped(line.split(' ')[1] ?? '/'))
}

/** Blanks in a path are written as octal numbers. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}

async function look(place: string) {
  const [{ dev }, { blocks, bavail, bsize }] = await Promise.all([stat(place), statfs(place)])
  return { device: String(dev), total: blocks * bsize, available: bavail * bsize }
}
