import { z } from 'zod'
import { key, presentReference } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { bytes, participantId, roomId } from './fields.ts'
import { defineScriptApi } from './script-api.ts'

/** The most participants that a broadcast leaves out. */
export const exceptedParticipantsMax = 1024

/** Name of a topic: 1..128 bytes without control characters. */
export const topicName = key(128)

/** Who is connected, as scripts see it. */
export const Session = once(() =>
  z.strictObject({
    participant: z.int(),
    user_id: z.string().nullable().meta({ description: 'Null for a guest' }),
    username: z.string().nullable(),
    room_id: z.int().nullable(),
  }),
)
export type Session = z.output<ReturnType<typeof Session>>

const kind = z
  .int()
  .min(2)
  .max(65_535)
  .meta({ description: '100..65535, or 2 if the script handles kind 1' })
const unreliable = z.boolean().optional().meta({ description: 'Default false' })

export const messagingScript = defineScriptApi({
  broadcast: {
    doc: "Sends to the sender's room but the sender; without a room, to all of this node.",
    example: ["guildhall.broadcast(100, 'the gate is open', false, { scope: 'all' })"],
    args: () => ({
      kind,
      body: bytes,
      unreliable,
      options: z
        .strictObject({
          scope: z.enum(['room', 'all']).optional(),
          room_id: roomId.optional(),
          topic: topicName.optional(),
          except: z.array(participantId).max(exceptedParticipantsMax).optional(),
        })
        .optional()
        .meta({ description: 'One of scope, room_id and topic, and whom to leave out' }),
    }),
    errors: ['limit_exceeded'],
    tier: 'sandboxed',
    runs: 'worker',
  },
  send: {
    doc: 'Sends to one participant of this node; an id that nobody has is no error.',
    example: ['for (const member of party) guildhall.send(member, 101, state)'],
    args: () => ({ session: participantId, kind, body: bytes, unreliable }),
    errors: ['limit_exceeded'],
    tier: 'sandboxed',
    runs: 'worker',
  },
  session_list: {
    doc: 'The connections of this node.',
    args: {},
    ok: () => z.array(Session()),
    tier: 'sandboxed',
    runs: 'node',
  },
  online: {
    doc: 'Those of the accounts that are connected to this node now, in the order given.',
    args: () => ({ user_ids: z.array(presentReference()).max(1000) }),
    ok: () => z.array(z.string()),
    tier: 'sandboxed',
    runs: 'node',
  },
  topic_join: {
    doc: 'Puts a participant into a topic; an unknown one is no error.',
    example: ["guildhall.topic_join('lobby', ctx.sender)"],
    args: () => ({ topic: topicName, participant: participantId }),
    errors: ['limit_exceeded'],
    tier: 'sandboxed',
    runs: 'command',
  },
  topic_leave: {
    doc: 'Takes a participant out of a topic.',
    args: () => ({ topic: topicName, participant: participantId }),
    errors: ['limit_exceeded'],
    tier: 'sandboxed',
    runs: 'command',
  },
})
