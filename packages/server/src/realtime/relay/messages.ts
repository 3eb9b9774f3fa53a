import { envelopeBytesMax, envelopeBytesMin, frameHeaderBytes } from '@guildhall/contract'
import {
  bytes,
  checked,
  decode,
  encode,
  flag,
  json,
  list,
  type Message,
  nullable,
  oneOf,
  struct,
  text,
  u8,
  u32,
  union,
  type ValueOf,
  varint,
  whole,
} from '../../kernel/cluster/wire.ts'

/** What nodes say to each other. A node of another version is not understood. */
export const protocolVersion = 1

const bodyBytesMax = envelopeBytesMax - envelopeBytesMin
/** What fits into a frame; of anything else none could be made. */
const kind = checked(varint, (read) => read <= 0xffff, 'a kind that is none')
const body = checked(bytes, ({ length }) => length <= bodyBytesMax, 'a body that is too large')

const account = struct({
  session_id: text,
  user_id: text,
  username: text,
  refresh_expires_at_unix_ms: whole,
})

const place = struct({
  room_id: nullable(whole),
  match_id: nullable(text),
  binding: nullable(struct({ revision_id: text, generation: whole })),
})

const target = union({
  id: struct({ room_id: whole, token: nullable(text) }),
  name: struct({ name: nullable(text), mayJoin: flag }),
})

/** A participant of an account, or a guest, that has been connected for so long. */
const presence = struct({
  participant: whole,
  user_id: nullable(text),
  username: nullable(text),
  age_ms: whole,
})

const frame = struct({ bytes: checked(bytes, isFrame, 'a frame that is none'), mergeKey: whole })

/** It says its length, by which a client finds what follows. */
function isFrame(of: Uint8Array): boolean {
  if (of.length < frameHeaderBytes) return false
  const at = (byte: number) => of[byte] ?? 0
  const said = ((at(0) << 24) | (at(1) << 16) | (at(2) << 8) | at(3)) >>> 0
  return said === of.length - frameHeaderBytes + envelopeBytesMin
}

const seat = oneOf('kept', 'kept_elsewhere', 'handed_over', 'none')

/**
 * On a link, from the edge to the owner. `visit` is the edge's number for one stay of a participant
 * with the owner.
 */
const asks = {
  enter: struct({
    visit: varint,
    call: varint,
    participant: whole,
    account: nullable(account),
    flags: u32,
    kind,
    target,
    options: text,
    mayCreate: flag,
  }),
  /** The client was answered already: undo what comes of the call. */
  cancel: struct({ visit: varint, call: varint }),
  leaveRoom: struct({ visit: varint }),
  /** It is in another room. */
  moved: struct({ visit: varint }),
  flags: struct({ visit: varint, flags: u32 }),
  position: struct({ visit: varint, body }),
  message: struct({ visit: varint, kind, body, unreliable: flag }),
  rpc: struct({ visit: varint, call: varint, method: text, payload: bytes }),
  depart: struct({ visit: varint, seat }),
  /** What was under way to a participant whose connection is over. */
  unsent: struct({ participant: whole, frames: list(frame) }),
  /** Takes over a seat of the account: a certain one, or the one that dropped last. */
  claim: struct({ visit: varint, participant: nullable(whole), account }),
  arrive: struct({ visit: varint, flags: u32 }),
  release: struct({ visit: varint }),
  close: struct({}),
}

/** On a link, from the owner to the edge. */
const reports = {
  answer: struct({ visit: varint, call: varint, refusal: nullable(text), again: flag }),
  placed: struct({ visit: varint, place }),
  deliver: struct({ visits: list(varint), unreliable: flag, frame }),
  positions: struct({ visits: list(varint), frames: list(frame) }),
  settled: struct({ visit: varint, kind, outcome: oneOf('ok', 'failed', 'unavailable') }),
  unhandled: struct({
    visit: varint,
    kind,
    reason: oneOf('no_handler', 'script_unavailable'),
    wasMessage: flag,
  }),
  replied: struct({
    visit: varint,
    call: varint,
    ok: flag,
    payload: bytes,
  }),
  leftRoom: struct({ visit: varint, room_id: nullable(whole) }),
  claimed: struct({ visit: varint, participant: nullable(whole), place }),
  arrived: struct({ visit: varint }),
  /** Nothing more comes of the visit. */
  over: struct({ visit: varint }),
}

const linkHead = { link: bytes, sequence: u32 }

const contents = {
  /** By the edge of a link; nothing in it is a sign of life. */
  asks: struct({ ...linkHead, items: list(union(asks)) }),
  /** By the owner of a link. */
  reports: struct({ ...linkHead, items: list(union(reports)) }),
  /** The link is not known, or is over. */
  reset: struct({ link: bytes, ofEdge: flag }),
  send: struct({
    kind,
    body,
    unreliable: flag,
    participants: list(whole),
    hops: u8,
  }),
  broadcast: struct({
    kind,
    body,
    unreliable: flag,
    sender: whole,
    except: list(whole),
    topic: nullable(text),
  }),
  topic: struct({ topic: text, participant: whole, isJoin: flag }),
  push: struct({ user_ids: nullable(list(text)), kind, body }),
  /** The participant has its connection on another node than its id says. */
  forward: struct({ participant: whole, boot: text }),
  /** A connection of this session is newer than that of the receiver. */
  replaced: struct({ session_id: text, participant: whole }),
  revoked: struct({ session_ids: list(text) }),
  ask: struct({ call: varint, about: text, value: json }),
  answer: struct({ call: varint, value: json }),
  /** The sender coordinates matchmaker and parties, or does not, or not any more. */
  coordinates: struct({ generation: whole }),
  notCoordinating: struct({ generation: whole }),
  /** Who is connected to an edge, all or what has changed; one without changes is a beat. */
  presence: struct({
    generation: whole,
    sequence: whole,
    isAll: flag,
    here: list(presence),
    gone: list(whole),
  }),
  /** The coordinator has missed something of it. */
  presenceAgain: struct({ generation: whole }),
  /** The edge stops; its clients will be back elsewhere. */
  edgeStops: struct({ generation: whole }),
  /** What an edge was last sent of tickets and parties. */
  kept: struct({ generation: whole, records: json }),
  /** What an edge is to keep; `isAll`: and nothing else. */
  keep: struct({ generation: whole, isAll: flag, records: json }),
  /** For the connections of an account, but that of a participant. */
  reach: struct({ generation: whole, account: text, except: nullable(whole), frame }),
  /** What the rooms of an edge offer: all, or what has changed and what is over. */
  offers: struct({ generation: whole, isAll: flag, records: json, over: list(text) }),
}

const content = union(contents)
/** Messages go by their numbers: what is new comes last in its table. */
export const numbers = {
  contents: Object.keys(contents),
  asks: Object.keys(asks),
  reports: Object.keys(reports),
}
const version = checked(u8, (read) => read === protocolVersion, 'a message of another version')
const head = struct({ version, from: text })
const anyMessage = struct({ head, content })

export type Content = Message<typeof contents>
export type Ask = Message<typeof asks>
export type Report = Message<typeof reports>
export type Present = ValueOf<typeof presence>
export type WirePlace = ValueOf<typeof place>

export function encodeMessage(from: string, value: Content): Uint8Array {
  return encode(anyMessage, { head: { version: protocolVersion, from }, content: value })
}

/** @throws BadMessage for what is no message of this version */
export function decodeMessage(message: Uint8Array): { from: string; content: Content } {
  const { head: read, content: value } = decode(anyMessage, message)
  return { from: read.from, content: value }
}
