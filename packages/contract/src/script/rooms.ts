import { z } from 'zod'
import { freeObject, hasControlCharacter, text, utf8Bytes } from '../values/fields.ts'
import type { Json, JsonObject } from '../values/json.ts'
import { once } from '../values/once.ts'
import { participantId, roomId } from './fields.ts'
import { defineScriptApi } from './script-api.ts'

/** Map or mode of a room: at most 128 bytes without control characters; it may be empty. */
const labelText = text(
  (value) => utf8Bytes(value) <= 128 && !hasControlCharacter(value),
  'must be at most 128 bytes without control characters',
  { maxLength: 128 },
)

const propertiesBytesMax = 1024
const propertiesLevelsMax = 16

/** What a script keeps about a room beside its label. */
const properties = freeObject
  .refine((value) => fits(value), { error: 'must be at most 1024 bytes as JSON, and 16 levels' })
  .meta({ description: 'At most 1,024 bytes as JSON, and 16 levels', free: true })

/** What describes a room. Members that are missing keep their value, or take the default. */
export const RoomLabel = once(() =>
  z.strictObject({
    map: labelText.optional(),
    mode: labelText.optional(),
    max_players: z.int().min(0).max(65_535).optional().meta({ description: '0 is no own limit' }),
    open: z.boolean().optional(),
    tick: z.boolean().optional().meta({ description: 'Whether on_tick runs for the room' }),
    listed: z.boolean().optional().meta({ description: 'Whether rooms.list shows it' }),
    properties: properties.optional(),
  }),
)
export type RoomLabel = z.output<ReturnType<typeof RoomLabel>>

/** A room of this node, with every member of its label. */
export const ScriptRoom = once(() =>
  z.strictObject({
    room_id: z.int(),
    match_id: z.string(),
    name: z.string().nullable(),
    map: z.string(),
    mode: z.string(),
    max_players: z.int(),
    open: z.boolean(),
    tick: z.boolean(),
    listed: z.boolean(),
    properties: freeObject,
    players: z.int().meta({ description: 'Members, those whose connection is lost included' }),
  }),
)
export type ScriptRoom = z.output<ReturnType<typeof ScriptRoom>>

/** Who is in a room; guests have no user id and no username. */
export const RoomMember = once(() =>
  z.strictObject({
    participant: z.int(),
    user_id: z.string().nullable(),
    username: z.string().nullable(),
    connected: z.boolean().meta({ description: 'False while the connection is lost' }),
  }),
)
export type RoomMember = z.output<ReturnType<typeof RoomMember>>

function fits(value: JsonObject): boolean {
  if (levelsOf(value, 0) > propertiesLevelsMax) return false
  const bigints = (_name: string, member: unknown) =>
    typeof member === 'bigint' ? Number(member) : member
  return utf8Bytes(JSON.stringify(value, bigints)) <= propertiesBytesMax
}

function levelsOf(value: Json, above: number): number {
  if (typeof value !== 'object' || value === null) return above
  if (above >= propertiesLevelsMax) return above + 1
  // Not spread: there may be more of them than a call has arguments.
  return Object.values(value).reduce<number>(
    (deepest, member) => Math.max(deepest, levelsOf(member, above + 1)),
    above + 1,
  )
}

export const roomsScript = defineScriptApi({
  room_list: {
    doc: 'The rooms of this node.',
    args: {},
    ok: () => z.array(ScriptRoom()),
    tier: 'sandboxed',
    runs: 'node',
  },
  room_members: {
    doc: 'Who is in a room of this node; of an unknown room nobody.',
    args: () => ({ room_id: roomId }),
    ok: () => z.array(RoomMember()),
    tier: 'sandboxed',
    runs: 'node',
  },
  room_update: {
    doc: 'Changes the label of a room; members that are not given stay.',
    example: ['guildhall.room_update(ctx.room_id, { open: false })'],
    args: () => ({ room_id: roomId, label: RoomLabel() }),
    errors: ['limit_exceeded'],
    tier: 'sandboxed',
    runs: 'command',
  },
  room_remove: {
    doc: 'Takes a participant out of a room; the last one ends the room.',
    args: () => ({ room_id: roomId, participant: participantId }),
    errors: ['limit_exceeded'],
    tier: 'sandboxed',
    runs: 'command',
  },
})
