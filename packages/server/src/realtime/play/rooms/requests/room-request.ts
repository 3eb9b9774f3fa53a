import {
  type Envelope,
  kinds,
  type RoomEnter,
  roomCreateBody,
  roomEnterBody,
  roomOptionsBytesMax,
  roomReferenceBody,
} from '@guildhall/contract'
import { decoded } from '../../../../kernel/play/decoded.ts'
import { isObject, isRoomText, isWithinLevels } from './label-answers.ts'

/** A request to enter a room, whatever kind it came as. */
export type EnterRequest = {
  /** The kind that refusals name. */
  kind: number
  target: /** `token` is that of a match; null is for everybody else. */
    | { by: 'id'; room_id: number; token: string | null }
    /** A name may be taken by a room to join; null makes a room without a name. */
    | { by: 'name'; name: string | null; mayJoin: boolean }
  /** JSON text of an object. */
  options: string
}

/** A request that is not even looked at, with the reason for its sender. */
export type Malformed = { malformed: string }

const noOptions = '{}'
const optionLevelsMax = 16

/** Reads the body of ROOM_CREATE, ROOM_JOIN or ROOM_ENTER. */
export function readEnterRequest({ kind, body }: Envelope): EnterRequest | Malformed {
  const enter = readEnter(kind, body)
  if (enter === undefined) return { malformed: 'malformed request' }
  const { options } = enter
  if (enter.mode !== 'join' && !isRoomText(enter.name)) return { malformed: 'invalid room name' }
  if (options !== '' && !isOptions(options)) return { malformed: 'invalid room options' }
  return { kind, target: targetOf(enter), options: options === '' ? noOptions : options }
}

function targetOf(enter: RoomEnter): EnterRequest['target'] {
  if (enter.mode === 'join') return { by: 'id', room_id: enter.room_id, token: null }
  const mayJoin = enter.mode === 'join_or_create'
  const unnamed = mayJoin ? 'default' : null
  return { by: 'name', name: enter.name === '' ? unnamed : enter.name, mayJoin }
}

/** The two older kinds say less, in their own layouts. */
function readEnter(kind: number, body: Uint8Array): RoomEnter | undefined {
  if (kind === kinds.ROOM_ENTER.first) return decoded(roomEnterBody, body)
  if (kind === kinds.ROOM_JOIN.first) {
    const reference = decoded(roomReferenceBody, body)
    return reference && { mode: 'join', room_id: reference.room_id, options: '' }
  }
  const create = decoded(roomCreateBody, body)
  return create && { mode: 'join_or_create', name: create.name, options: '' }
}

function isOptions(text: string): boolean {
  if (Buffer.byteLength(text) > roomOptionsBytesMax) return false
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && isWithinLevels(value, optionLevelsMax)
  } catch {
    return false
  }
}
