import { StateWriter } from './state-bytes.ts'
import type { StateEncoder } from './state-encoder.ts'
import { changesHeadBytes, stateFlags } from './state-format.ts'

/** The list of changes of one part, behind room for the head of a message. */
export type StateList = { readonly list: Uint8Array; readonly anew: boolean }

/**
 * Kind 50 (ROOM_STATE) with changes. Where the numbering of one part begins anew, that of the other
 * part must too, if both are there. Without an own part the body is the list itself.
 */
export function encodeStateChanges(
  seq: number,
  shared: StateList | undefined,
  own?: StateList,
): Uint8Array {
  const isAnew = shared?.anew === true || own?.anew === true
  const flags = flagsOf({ anew: isAnew, own: own !== undefined })
  if (own === undefined)
    return withHead(shared?.list ?? new Uint8Array(changesHeadBytes), flags, seq)
  const writer = changesWriter
  writer.clear(changesHeadBytes)
  const sharedBytes = (shared?.list.length ?? changesHeadBytes) - changesHeadBytes
  writer.varint(sharedBytes)
  if (shared !== undefined) writer.bytes(shared.list, changesHeadBytes)
  writer.bytes(own.list, changesHeadBytes)
  return withHead(writer.take(), flags, seq)
}

function withHead(body: Uint8Array, flags: number, seq: number): Uint8Array {
  body[0] = flags
  for (let n = 1; n < changesHeadBytes; n += 1) body[n] = (seq >>> (32 - 8 * n)) & 0xff
  return body
}

/** Kind 50 with the whole, for who has nothing of it. */
export function encodeStateFull(
  { seq, room_id }: { seq: number; room_id: number },
  view: StateEncoder,
  own?: StateEncoder,
): Uint8Array {
  const writer = new StateWriter()
  const shared = view.numbering()
  writer.u8(stateFlags.full | flagsOf({ anew: false, own: own !== undefined }))
  writer.u32(seq)
  writer.u64(room_id)
  const ownText = own === undefined ? '' : `,"own":${own.text()}`
  writer.text(`{"view":${view.text()}${ownText}}`)
  if (own === undefined) writer.bytes(shared)
  else {
    writer.bytesWithLength(shared)
    writer.bytes(own.numbering())
  }
  return writer.take()
}

/** Whether a body of kind 50 is a full one. */
export function isStateFull(body: Uint8Array): boolean {
  return ((body[0] ?? 0) & stateFlags.full) !== 0
}

function flagsOf({ anew, own }: { anew: boolean; own: boolean }): number {
  return stateFlags.version | (anew ? stateFlags.anew : 0) | (own ? stateFlags.own : 0)
}

const changesWriter = new StateWriter()
