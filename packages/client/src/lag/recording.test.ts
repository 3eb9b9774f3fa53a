import { type DiagStart, decodeLagHeader, lagFlags } from '@guildhall/contract'
import { expect, it } from 'vitest'
import { createFakeHost } from '../testing/fake-host.ts'
import { Recording } from './recording.ts'

const serverMs = 1_600_000_000_000

function recordingFor(minutes: number, isClockKnown: boolean) {
  const host = createFakeHost()
  const time = {
    now: () => (isClockKnown ? serverMs + host.monotonicMs() : null),
    uncertaintyMs: () => (isClockKnown ? 1.5 : null),
  }
  const start: DiagStart = {
    capture_id: '00112233445566778899aabbccddeeff',
    generation: 1,
    deadline_utc_ms: (time.now() ?? host.nowMs()) + minutes * 60_000,
    max_bytes: 65_536,
    filters: [{ kind: 100, direction: 'inbound', entity: null }],
  }
  return { host, recording: new Recording(start, { host, time }) }
}

async function headerOf(recording: Recording) {
  const packed = new Blob([await recording.pack(65_536)]).stream()
  const raw = packed.pipeThrough(new DecompressionStream('gzip'))
  return decodeLagHeader(new Uint8Array(await new Response(raw).arrayBuffer()))
}

it('[L-LIFE-3] notes the clock of the server at the start and every 10 min, three times', async () => {
  const { host, recording } = recordingFor(60, true)
  for (let asked = 0; asked < 40; asked += 1) {
    host.advance(60_000)
    recording.sampleAgain()
  }
  const header = await headerOf(recording)
  expect(header).toMatchObject({
    flags: lagFlags.metadata | lagFlags.clock_known,
    server_utc_us: serverMs * 1000,
    clock_uncertainty_us: 1500,
  })
  expect(header.clock_samples).toEqual(
    [0, 600_000_000, 1_200_000_000].map((elapsed_us) => ({
      elapsed_us,
      server_utc_us: serverMs * 1000 + elapsed_us,
      uncertainty_us: 1500,
    })),
  )
})

it('[L-LIFE-3] says nothing of a clock that it does not know', async () => {
  const { host, recording } = recordingFor(60, false)
  host.advance(600_000)
  recording.sampleAgain()
  expect(await headerOf(recording)).toMatchObject({
    flags: lagFlags.metadata,
    server_utc_us: 0,
    clock_uncertainty_us: 0,
    clock_samples: [],
  })
})

it('[L-ART-1] stops before its count of microseconds wraps, whatever the deadline is', async () => {
  const { host, recording } = recordingFor(90, true)
  expect(recording.leftMs).toBe(71 * 60_000)
  host.advance(71 * 60_000 - 1)
  recording.tap(100, false, false, 1)
  host.advance(1)
  recording.tap(100, false, false, 1)
  expect(recording.counts.packets).toBe(1)
  expect((await headerOf(recording)).record_count).toBe(1)
})
