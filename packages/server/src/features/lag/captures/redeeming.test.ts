import { expect, it, onTestFinished } from 'vitest'
import type { Transaction } from '../../../database/database.ts'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { bySystem } from '../../../kernel/mutation.ts'
import { createFakeRecording } from '../recording.fake.ts'
import {
  bootTag,
  mintToken,
  readToken,
  sessionTag,
  type UploadClaims,
} from '../uploads/upload-token.ts'
import { createCaptures } from './captures.ts'

const store = { run: async () => 1 } as unknown as Transaction
const key = Buffer.alloc(32, 7)

/** A recorder that was asked to upload, by a node whose key is known, and its token's claims. */
async function flushed() {
  const recording = createFakeRecording()
  const captures = createCaptures({
    clock: createFakeClock(),
    ids: { bytes: () => key, uuid7: () => 'ab'.repeat(16) },
    nodeId: 'node',
    bootId: 'boot',
    players: recording.players,
    bounds: {
      max_compressed_bytes: 4_194_304,
      max_decompressed_bytes: 67_108_864,
      max_active_captures: 1,
      max_participants: 1,
      max_duration_ms: 10_000,
      flush_window_ms: 10_000,
    },
    quota: { free: () => 1e9, reserve() {}, release() {} },
    mutate: async (_, change) => (await change(store)).answer,
    write() {},
  })
  onTestFinished(captures.stop)
  recording.join(1)
  const filters = [{ kind: 100, direction: 'inbound' } as const]
  const { capture_id } = await captures.start(bySystem, {
    participants: [1],
    user_ids: undefined,
    room_id: undefined,
    label: undefined,
    filters,
    duration_ms: 10_000,
    max_bytes: undefined,
    analyze: undefined,
    send_rate_hz: undefined,
  })
  recording.say(1, { capture_id })
  await captures.flush(bySystem, capture_id)
  const claims = readToken(key, recording.flushOf(1).token)
  if (claims === undefined) throw new Error('the token is of another key')
  return { claims, redeem: (other: UploadClaims) => captures.redeem(mintToken(key, other)) }
}

const foreign: [what: string, change: (claims: UploadClaims) => Partial<UploadClaims>][] = [
  ['another session', () => ({ session_tag: sessionTag('s-2') })],
  ['another boot', () => ({ boot_tag: bootTag('later') })],
  ['another generation', ({ generation }) => ({ generation: generation + 1 })],
  ['another attempt', ({ attempt }) => ({ attempt: attempt + 1 })],
  ['another participant', () => ({ participant: 2 })],
  ['another capture', () => ({ capture_id: 'cd'.repeat(16) })],
]

it.each(foreign)(
  '[L-TOK-3] a token of %s is none, though its key is the right one',
  async (_, change) => {
    const { claims, redeem } = await flushed()
    expect(redeem({ ...claims, ...change(claims) })).toBeUndefined()
    // It has not used the one that was minted.
    expect(redeem(claims)).toMatchObject({ recorder: { participant: 1 } })
  },
)
