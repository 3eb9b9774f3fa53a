import { readdirSync } from 'node:fs'
import { cpuUsage, memoryUsage } from 'node:process'
import type { MetricFamily } from '../../kernel/metrics/metric-family.ts'

/** What the operating system says of this process, read when the page is asked for. */
export function processFamilies(): MetricFamily[] {
  return [
    {
      name: 'process_cpu_seconds_total',
      help: 'CPU time of the process, without that of the script.',
      labels: [],
      type: 'counter',
      samples() {
        const { user, system } = cpuUsage()
        return [{ labels: {}, value: (user + system) / 1_000_000 }]
      },
    },
    {
      name: 'process_resident_memory_bytes',
      help: 'Resident memory of the process.',
      labels: [],
      type: 'gauge',
      samples: () => [{ labels: {}, value: memoryUsage.rss() }],
    },
    {
      name: 'process_heap_used_bytes',
      help: 'Used heap of the process.',
      labels: [],
      type: 'gauge',
      samples: () => [{ labels: {}, value: memoryUsage().heapUsed }],
    },
    {
      name: 'process_open_fds',
      help: 'Open files and sockets; only on Linux.',
      labels: [],
      type: 'gauge',
      samples: () => openFiles().map((value) => ({ labels: {}, value })),
    },
  ]
}

function openFiles(): number[] {
  try {
    // One of them is the folder itself.
    return [readdirSync('/proc/self/fd').length - 1]
  } catch {
    return []
  }
}
