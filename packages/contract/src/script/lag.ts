import { z } from 'zod'
import { presentReference, unixMs } from '../values/fields.ts'
import { participantId, roomId } from './fields.ts'
import { defineScriptApi } from './script-api.ts'

const LagSkip = z.strictObject({
  participant: z.int(),
  reason: z.enum(['unknown', 'guest', 'not_capable', 'busy', 'attempts', 'not_recording']),
})
const capture_id = presentReference()

const planned = { tier: 'trusted', runs: 'node', planned: true } as const

export const lagScript = defineScriptApi({
  'lag.start': {
    doc: 'Starts a capture of the packets of participants; the script must check who asks.',
    args: {
      options: z.strictObject({
        participants: z.array(participantId).optional(),
        room_id: roomId.optional(),
        filters: z.array(
          z.strictObject({
            kind: z.int().min(0).max(65_535),
            direction: z.enum(['inbound', 'outbound']),
          }),
        ),
        duration_ms: z.int().min(1),
        max_bytes: z.int().min(1).optional(),
        analyze: z.boolean().optional(),
        send_rate_hz: z.number().optional(),
      }),
    },
    ok: z.strictObject({
      capture_id: z.string(),
      started: z.array(z.int()),
      skipped: z.array(LagSkip),
    }),
    errors: ['conflict', 'unavailable'],
    ...planned,
  },
  'lag.flush': {
    doc: 'Asks the recorders of a capture to upload what they have.',
    args: { capture_id },
    ok: z.strictObject({
      attempts: z.array(z.strictObject({ participant: z.int(), attempt: z.int() })),
      skipped: z.array(LagSkip),
    }),
    errors: ['not_found', 'conflict', 'unavailable'],
    ...planned,
  },
  'lag.status': {
    doc: 'The state of a capture and of its recorders, or null.',
    args: { capture_id },
    ok: z
      .strictObject({
        capture_id: z.string(),
        state: z.string(),
        deadline_unix_ms: unixMs,
        recorders: z.array(
          z.strictObject({
            participant: z.int(),
            status: z.string(),
            attempt: z.int(),
            packets: z.int(),
            dropped: z.int(),
            bytes: z.int(),
          }),
        ),
      })
      .nullable(),
    ...planned,
  },
})
