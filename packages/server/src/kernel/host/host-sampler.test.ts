import { expect, it } from 'vitest'
import { createHostSampler, type HostReaders } from './host-sampler.ts'

function open(filesystems: Awaited<ReturnType<HostReaders['filesystems']>> = []) {
  const times = { busy: 1000, all: 5000 }
  const sampler = createHostSampler({
    cpuTimes: () => ({ ...times }),
    memory: () => ({ total: 100, available: 30, process: 7 }),
    filesystems: async () => filesystems,
  })
  return { times, sampler }
}

it('[H-TEL-1] knows nothing before the first sample, and the processor from the second on', async () => {
  const { times, sampler } = open()
  expect(sampler.known()).toEqual({})
  await sampler.sample()
  const memory = { total_bytes: 100, available_bytes: 30, used_bytes: 70, process_used_bytes: 7 }
  expect(sampler.known()).toEqual({ memory })
  times.busy += 126
  times.all += 1000
  await sampler.sample()
  expect(sampler.known()).toEqual({ cpu_usage_percent: 13, memory })
})

it('[H-TEL-1] keeps the processor within 0 and 100, also when its counters jump', async () => {
  const { times, sampler } = open()
  await sampler.sample()
  for (const [busy, all, percent] of [
    [2000, 6000, 100],
    [2000, 7000, 0],
    [2000, 7000, 0],
    [1500, 8000, 0],
  ] as const) {
    Object.assign(times, { busy, all })
    await sampler.sample()
    expect(sampler.known().cpu_usage_percent).toBe(percent)
  }
})

it('[H-TEL-1] sums file systems of some size, each device once', async () => {
  const { sampler } = open([
    { device: '1', total: 100, available: 40 },
    { device: '2', total: 50, available: 5 },
    { device: '1', total: 100, available: 40 },
    { device: '3', total: 0, available: 0 },
  ])
  await sampler.sample()
  expect(sampler.known().storage).toEqual({
    total_bytes: 150,
    available_bytes: 45,
    used_bytes: 105,
    mounted_filesystems: 2,
  })
})

it('[H-TEL-1] reads this machine', async () => {
  const sampler = createHostSampler()
  await sampler.sample()
  expect(sampler.known().memory?.total_bytes).toBeGreaterThan(0)
  expect(sampler.known().storage?.total_bytes).toBeGreaterThan(0)
})
