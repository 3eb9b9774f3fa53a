import { z } from 'zod'
import { captureStates, lagDirections, lagLabelBytesMax, recorderStatuses } from '../shapes/lag.ts'
import { label, optional, presentReference, unixMs } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { participantId, roomId } from './fields.ts'
import { defineScriptApi } from './script-api.ts'

const LagSkip = once(() =>
  z.strictObject({
    participant: z.int(),
    reason: z.enum(['unknown', 'guest', 'not_capable', 'busy', 'attempts', 'not_recording']),
  }),
)
export type LagSkip = z.output<ReturnType<typeof LagSkip>>

/** Whom to record, and what of them. Exactly one of the first three is given. */
export const LagStart = once(() =>
  z.strictObject({
    participants: optional(z.array(participantId).min(1)),
    user_ids: optional(z.array(presentReference()).min(1)),
    room_id: optional(roomId),
    label: optional(label(lagLabelBytesMax)),
    filters: z
      .array(
        z.strictObject({
          kind: z.int().min(0).max(65_535),
          direction: z.enum(lagDirections),
        }),
      )
      .min(1)
      .max(16),
    duration_ms: z.int().min(1000),
    max_bytes: optional(z.int().min(65_536)),
    analyze: optional(z.boolean()),
    send_rate_hz: optional(z.int().min(1).max(1000)),
  }),
)
export type LagStart = z.output<ReturnType<typeof LagStart>>

export const LagStarted = once(() =>
  z.strictObject({
    capture_id: z.string(),
    started: z.array(z.int()),
    skipped: z.array(LagSkip()),
  }),
)
export type LagStarted = z.output<ReturnType<typeof LagStarted>>

export const LagFlushed = once(() =>
  z.strictObject({
    attempts: z.array(z.strictObject({ participant: z.int(), attempt: z.int() })),
    skipped: z.array(LagSkip()),
  }),
)
export type LagFlushed = z.output<ReturnType<typeof LagFlushed>>

export const LagState = once(() =>
  z.strictObject({
    capture_id: z.string(),
    state: z.enum(captureStates),
    deadline_unix_ms: unixMs,
    recorders: z.array(
      z.strictObject({
        participant: z.int(),
        status: z.enum(recorderStatuses),
        attempt: z.int(),
        packets: z.int(),
        dropped: z.int(),
        bytes: z.int(),
      }),
    ),
  }),
)
export type LagState = z.output<ReturnType<typeof LagState>>

/** The argument of the functions that ask for one capture. */
export const LagOne = once(() => z.strictObject({ capture_id: presentReference() }))

const trusted = { tier: 'trusted', runs: 'node' } as const

export const lagScript = defineScriptApi({
  'lag.start': {
    doc: 'Asks clients that agreed to it to record when envelopes come; check who asks for it.',
    example: [
      'const capture = await guildhall.lag.start({',
      "  room_id: 7, duration_ms: 60_000, filters: [{ kind: 2, direction: 'inbound' }],",
      '})',
    ],
    args: () => ({ options: LagStart() }),
    ok: LagStarted,
    errors: ['not_found', 'limit_exceeded', 'unavailable'],
    ...trusted,
  },
  'lag.flush': {
    doc: 'Asks the recorders of a capture to upload what they have.',
    example: ['await guildhall.lag.flush(capture.capture_id)'],
    args: () => ({ capture_id: LagOne().shape.capture_id }),
    ok: LagFlushed,
    errors: ['not_found', 'conflict', 'limit_exceeded', 'unavailable'],
    ...trusted,
  },
  'lag.status': {
    doc: 'The state of a capture of this boot and of its recorders, or null.',
    example: ['const state = await guildhall.lag.status(capture.capture_id)'],
    args: () => ({ capture_id: LagOne().shape.capture_id }),
    ok: () => LagState().nullable(),
    errors: ['unavailable'],
    ...trusted,
  },
})
