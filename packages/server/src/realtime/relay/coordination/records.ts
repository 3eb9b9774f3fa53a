import { once } from '@guildhall/contract'
import { z } from 'zod'
import type { GatheringRecords } from '../../play/coordination.port.ts'
import type { FormedMatch, MatchOrder } from '../../play/matchmaker/offers/match-order.ts'
import type { OfferOrder, OfferRecord } from '../../play/matchmaker/offers/offer.ts'

/** What nodes say about tickets and parties, checked as whatever comes from outside. */

const schemas = once(() => {
  const id = z.string().max(256)
  const count = z.number().int().min(0)

  const ticket = z.object({
    id,
    revision: count,
    state: z.enum(['queued', 'matched', 'over']),
    asked: z.string(),
    accounts: z.array(id).min(1).max(255),
    party_id: id.nullable(),
    waited_ms: count,
    tokens: z.array(z.object({ account: id, token: id, room_id: count, expires_at: count })),
  })

  const pending = z.array(z.object({ user_id: id, expires_at: count, left_ms: count.optional() }))

  const party = z.object({
    id,
    revision: count,
    presence_sequence: count,
    leader: id,
    open: z.boolean(),
    members: z.array(z.object({ user_id: id, username: z.string() })),
    invitations: pending,
    requests: pending,
  })

  const records = z.object({ tickets: z.array(ticket), parties: z.array(party) })

  const order = z.object({
    tickets: z.array(ticket).min(1),
    members: z.array(z.object({ account: id, participant: count, user_id: id.nullable() })),
  })

  const offers = z.array(
    z.object({
      ...{ id, room_id: count, asked: z.string() },
      ...{ seats: count, places: count, places_max: count, age_ms: count, ttl_ms: count },
    }),
  )

  const offerOrder = order.extend({ offer_id: id })

  const formed = z.object({
    room_id: count,
    tokens: z.array(z.object({ ticket_id: id, account: id, token: id, ttl_ms: z.number() })),
  })

  const call = z.object({ method: z.string(), participant: count, payload: z.string() })

  const answer = z.union([
    z.object({ refusal: z.string() }),
    z.object({ reply: z.string() }),
    z.object({ elsewhere: z.literal(true) }),
  ])

  return { records, order, offers, offerOrder, formed, call, answer }
})

type Schemas = ReturnType<typeof schemas>
export type CallValue = z.infer<Schemas['call']>
export type AnswerValue = z.infer<Schemas['answer']>

function reader<Value>(schemaIn: (all: Schemas) => z.ZodType<Value>) {
  return (value: unknown): Value | undefined => schemaIn(schemas()).safeParse(value).data
}

export const readRecords = reader<GatheringRecords>((all) => all.records)
export const readOrder = reader<MatchOrder>((all) => all.order)
export const readOffers = reader<OfferRecord[]>((all) => all.offers)
export const readOfferOrder = reader<OfferOrder>((all) => all.offerOrder)
export const readFormed = reader<FormedMatch>((all) => all.formed)
export const readCall = reader<CallValue>((all) => all.call)
export const readAnswer = reader<AnswerValue>((all) => all.answer)
