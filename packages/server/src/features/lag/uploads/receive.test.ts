import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { artifact } from '../analysis/artifact.fixture.ts'
import { createPace, type Pace } from './pace.ts'
import { receive } from './receive.ts'

const MiB = 1_048_576
const bytesPerSecond = 16 * MiB

/** An upload that has begun, and what it has brought so far. */
function begun() {
  const clock = createFakeClock()
  const shared = createPace(clock)
  let waits = 0
  const pace: Pace = {
    spend(bytes, signal) {
      const turn = shared.spend(bytes, signal)
      if (turn !== undefined) waits += 1
      return turn
    },
  }
  const message = new IncomingMessage(new Socket())
  const consent = { isGiven: true }
  const bounds = {
    totalMs: 30_000,
    compressedMax: MiB,
    inflatedMax: 64 * MiB,
    expectRoom() {
      if (!consent.isGiven) throw new RangeError('withdrawn')
    },
  }
  const staged = { write: async () => {} }
  const received = receive(message, staged, { clock, pace, bounds })
  received.catch(() => {})
  const spend = (bytes: number) => void shared.spend(bytes, new AbortController().signal)
  return { clock, message, consent, received, spend, waits: () => waits }
}

const bomb = gzipSync(Buffer.alloc(32 * MiB))

describe('[L-UP-3] an upload as it arrives', () => {
  it('gives the memory of its pieces back', async () => {
    const { message, received } = begun()
    const whole = gzipSync(artifact({ records: [{ elapsed_us: 1 }] }))
    const pieces = [whole.subarray(0, 40), whole.subarray(40)].map((bytes) => {
      const piece = Buffer.from(new ArrayBuffer(bytes.length))
      bytes.copy(piece)
      return piece
    })
    for (const piece of pieces) {
      message.push(piece)
      await expect.poll(() => piece.length).toBe(0)
    }
    message.complete = true
    message.push(null)
    expect(await received).toMatchObject({ compressedBytes: whole.length })
  })

  it('ends once nothing has come for 10 s, however long it has taken before', async () => {
    const { clock, message, received } = begun()
    let ended = false
    received.catch(() => {
      ended = true
    })
    message.push(Buffer.from([0x1f]))
    await clock.advance(9000)
    message.push(Buffer.from([0x8b]))
    await clock.advance(9999)
    expect(ended).toBe(false)
    await clock.advance(1)
    await expect(received).rejects.toThrow('time')
  })

  type Upload = ReturnType<typeof begun>
  const ends: [how: string, end: (upload: Upload) => void, reason: string][] = [
    ['its client leaves', ({ message }) => void message.destroy(), 'gzip'],
    ['its 30 s are over', ({ clock }) => void clock.advance(30_000), 'time'],
    [
      'it is its turn, though it was withdrawn',
      ({ clock, consent }) => {
        consent.isGiven = false
        void clock.advance(1000)
      },
      'withdrawn',
    ],
  ]
  it.each(ends)('[L-LIFE-4] that has to wait ends once %s', async (how, end, reason) => {
    const upload = begun()
    upload.spend(how.includes('turn') ? 16 * MiB : 1024 * MiB)
    upload.message.push(bomb)
    await expect.poll(upload.waits).toBe(1)
    end(upload)
    await expect(upload.received).rejects.toThrow(reason)
    expect(upload.clock.timersWaiting()).toBeLessThanOrEqual(1)
  })
})

describe('[L-UP-3] the pace of uploads', () => {
  it('lets 1 MiB go at once, and is one for all: 16 MiB a second', async () => {
    const clock = createFakeClock()
    const pace = createPace(clock)
    const { signal } = new AbortController()
    const piece = 65_536
    let taken = 0
    const upload = async () => {
      for (;;) {
        taken += piece
        await pace.spend(piece, signal)
      }
    }
    for (let count = 0; count < 4; count += 1) void upload()
    for (const seconds of [0, 1, 1.5]) {
      await clock.advance(seconds * 1000 - clock.monotonicMs())
      const due = MiB + seconds * bytesPerSecond
      expect(taken).toBeGreaterThanOrEqual(due)
      expect(taken).toBeLessThanOrEqual(due + 4 * piece)
    }
  })

  it('saves no more than 1 MiB of what nobody took', async () => {
    const clock = createFakeClock()
    const pace = createPace(clock)
    const { signal } = new AbortController()
    expect(pace.spend(MiB, signal)).toBeUndefined()
    await clock.advance(9000)
    expect(pace.spend(MiB, signal)).toBeUndefined()
    expect(pace.spend(1, signal)).toBeInstanceOf(Promise)
  })
})
