import { deflateRawSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { afterOthers } from '../../../kernel/clock.ts'
import { GzipFault, GzipMember } from './gzip-member.ts'

async function inflated(bytes: Uint8Array, { step = bytes.length, max = Infinity } = {}) {
  let size = 0
  const member = new GzipMember((chunk) => {
    size += chunk.length
    if (size > max) throw new RangeError('too large')
    return undefined
  })
  try {
    for (let at = 0; at < bytes.length; at += step) {
      await member.write(Buffer.from(bytes.subarray(at, at + step)))
    }
    await member.end()
    return size
  } finally {
    member.destroy()
  }
}

const text = Buffer.from('arrivals '.repeat(400))
const packed = gzipSync(text)

describe('[L-UP-1] [L-UP-3] one gzip member', () => {
  it('is taken, however it is cut', async () => {
    for (const step of [1, 2, 7, packed.length]) {
      expect(await inflated(packed, { step })).toBe(text.length)
    }
    expect(await inflated(gzipSync(''))).toBe(0)
  })

  it('may have all parts of a header', async () => {
    const extra = [...Buffer.from([3, 0, 1, 2, 3]), ...Buffer.from('a name\0a comment\0xx')]
    const header = [0x1f, 0x8b, 8, 2 + 4 + 8 + 16, 0, 0, 0, 0, 0, 3, ...extra]
    const bytes = Buffer.concat([Buffer.from(header), deflateRawSync(text), packed.subarray(-8)])
    for (const step of [1, bytes.length]) expect(await inflated(bytes, { step })).toBe(text.length)
  })

  it('is refused when it is cut at any byte', async () => {
    for (let length = 0; length < packed.length; length += 1) {
      await expect(inflated(packed.subarray(0, length)), `cut at ${length}`).rejects.toThrow(
        GzipFault,
      )
    }
  })

  it('has nothing behind it: no byte, no second member, neither behind an empty one', async () => {
    const empty = gzipSync('')
    const tooMuch = [
      [packed, Buffer.of(0)],
      [packed, Buffer.alloc(100_000, 7)],
      [packed, packed],
      [packed, empty],
      [empty, packed],
    ]
    for (const parts of tooMuch) {
      const bytes = Buffer.concat(parts)
      await expect(inflated(bytes)).rejects.toThrow(GzipFault)
      await expect(inflated(bytes, { step: 5 })).rejects.toThrow(GzipFault)
    }
  })

  it('is refused with another magic, method, reserved flag, checksum or size', async () => {
    for (const at of [0, 1, 2, packed.length - 8, packed.length - 1]) {
      const bytes = Buffer.from(packed)
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
      await expect(inflated(bytes), `byte ${at}`).rejects.toThrow(GzipFault)
    }
    const flagged = Buffer.from(packed)
    flagged.writeUInt8(0x20, 3)
    await expect(inflated(flagged)).rejects.toThrow(GzipFault)
    const endless = Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 8]), Buffer.alloc(5000, 65)])
    await expect(inflated(endless, { step: 100 })).rejects.toThrow(GzipFault)
  })

  it('of much more than is allowed is cut off while it is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    await expect(inflated(bomb, { max: 100_000 })).rejects.toThrow(RangeError)
  })

  it('is unpacked piece by piece, each as late as whoever takes it likes', async () => {
    const size = 4 * 1024 * 1024
    let taken = 0
    let isHeld = false
    const buffers: ArrayBufferLike[] = []
    const member = new GzipMember(async (chunk) => {
      expect(isHeld).toBe(false)
      isHeld = true
      taken += chunk.length
      buffers.push(chunk.buffer)
      await afterOthers()
      isHeld = false
    })
    const bomb = gzipSync(Buffer.alloc(size))
    for (let at = 0; at < bomb.length; at += 500) await member.write(bomb.subarray(at, at + 500))
    await member.end()
    expect(taken).toBe(size)
    // What was taken is given back.
    const kept = new Set(buffers.filter((buffer) => (buffer as ArrayBuffer).detached === false))
    expect([new Set(buffers).size, kept.size]).toEqual([64, 0])
  })

  it('ends with whatever rejects its next piece', async () => {
    const member = new GzipMember(() => Promise.reject(new RangeError('enough')))
    await expect(member.write(gzipSync(Buffer.alloc(1_000_000)))).rejects.toThrow('enough')
  })
})
