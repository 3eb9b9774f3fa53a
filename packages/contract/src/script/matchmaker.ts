import { z } from 'zod'
import { optional, presentReference } from '../values/fields.ts'
import { options, roomId } from './fields.ts'
import { defineScriptApi } from './script-api.ts'

const ticket_id = presentReference()
const served = { tier: 'sandboxed', runs: 'node' } as const

export const matchmakerScript = defineScriptApi({
  'matchmaker.backfill': {
    doc: 'Offers free seats of a running room to waiting tickets, and returns the id of the offer.',
    args: () => ({
      room_id: roomId,
      seats: z.int().min(1).max(255),
      properties: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
      options: options({ query: optional(z.string()), ttl_ms: optional(z.int().min(1)) }),
    }),
    ok: () => z.string(),
    errors: ['not_found', 'conflict', 'unavailable'],
    ...served,
  },
  'matchmaker.backfill_cancel': {
    doc: 'Ends an offer; tokens that were given stay valid. False if there is none.',
    args: () => ({ ticket_id }),
    ok: () => z.boolean(),
    ...served,
  },
  'matchmaker.backfill_status': {
    doc: 'The seats left of an offer and the tokens not yet used, or null.',
    args: () => ({ ticket_id }),
    ok: () => z.strictObject({ seats: z.int(), waiting: z.int() }).nullable(),
    ...served,
  },
})
