import {
  type LagDelivery,
  type LagDirection,
  lagDirections,
  lagRecordBytes,
} from '@guildhall/contract'

/** Which envelopes a capture records. */
export type Filter = { kind: number; direction: LagDirection }

/** Records that are alike, in the order of recording. */
export type Group = {
  kind: number
  direction: LagDirection
  delivery: LagDelivery
  count: number
  elapsedUs: Uint32Array
  bodyBytes: Uint32Array
}

export type Grouped = {
  /** Those with most records first. */
  groups: Group[]
  usable: number
  malformed: number
  /** Of the first and the last usable record; 0 without one. */
  firstUs: number
  lastUs: number
}

const deliveries: Readonly<Record<number, LagDelivery>> = { 2: 'reliable', 4: 'datagram' }
/** A record's packet fields may be valid for the first or for the second snapshot format. */
const metadataFlagsMax = 2

/**
 * Reads the records of an artifact. One with an unknown direction, delivery or flag, outside of
 * the filters, or from before the one ahead of it is malformed and left out.
 */
export function groupRecords(records: Uint8Array, filters: readonly Filter[]): Grouped {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength)
  const count = Math.floor(records.length / lagRecordBytes)
  const placeOf = createPlaces(filters)
  /** For each record the index of its group, or none. */
  const groupAt = new Int8Array(count).fill(-1)
  const groups: Group[] = []
  const byPlace = new Map<number, number>()
  const grouped: Grouped = { groups, usable: 0, malformed: 0, firstUs: 0, lastUs: 0 }

  for (let index = 0; index < count; index += 1) {
    const at = index * lagRecordBytes
    const elapsed = view.getUint32(at)
    const place = placeOf(view, at)
    if (place === undefined || elapsed < grouped.lastUs) {
      grouped.malformed += 1
      continue
    }
    let group = byPlace.get(place)
    if (group === undefined) {
      group = groups.push(emptyGroup(view, at)) - 1
      byPlace.set(place, group)
    }
    groupAt[index] = group
    const known = groups[group]
    if (known !== undefined) known.count += 1
    if (grouped.usable === 0) grouped.firstUs = elapsed
    grouped.usable += 1
    grouped.lastUs = elapsed
  }
  fill(view, groupAt, groups)
  groups.sort(byCount)
  return grouped
}

/** A number for each kind, direction and delivery that may occur; undefined for all others. */
function createPlaces(filters: readonly Filter[]) {
  const wanted = new Set(filters.map(({ kind, direction }) => 2 * kind + bitOf(direction)))
  return (view: DataView, at: number): number | undefined => {
    const direction = view.getUint8(at + 6)
    const delivery = view.getUint8(at + 7)
    if (direction > 1 || (delivery !== 2 && delivery !== 4)) return undefined
    if (view.getUint16(at + 30) > metadataFlagsMax) return undefined
    const filter = 2 * view.getUint16(at + 4) + direction
    return wanted.has(filter) ? 2 * filter + (delivery === 4 ? 1 : 0) : undefined
  }
}

function bitOf(direction: LagDirection): number {
  return lagDirections.indexOf(direction)
}

function emptyGroup(view: DataView, at: number): Group {
  return {
    kind: view.getUint16(at + 4),
    direction: lagDirections[view.getUint8(at + 6)] ?? 'inbound',
    delivery: deliveries[view.getUint8(at + 7)] ?? 'reliable',
    count: 0,
    elapsedUs: new Uint32Array(0),
    bodyBytes: new Uint32Array(0),
  }
}

/** Copies times and sizes to the groups, whose numbers of records are known now. */
function fill(view: DataView, groupAt: Int8Array, groups: readonly Group[]): void {
  for (const group of groups) {
    group.elapsedUs = new Uint32Array(group.count)
    group.bodyBytes = new Uint32Array(group.count)
  }
  const next = groups.map(() => 0)
  for (let index = 0; index < groupAt.length; index += 1) {
    const of = groupAt[index] ?? -1
    const group = groups[of]
    if (group === undefined) continue
    const to = next[of] ?? 0
    next[of] = to + 1
    group.elapsedUs[to] = view.getUint32(index * lagRecordBytes)
    group.bodyBytes[to] = view.getUint32(index * lagRecordBytes + 8)
  }
}

function byCount(a: Group, b: Group): number {
  return (
    b.count - a.count ||
    a.kind - b.kind ||
    bitOf(a.direction) - bitOf(b.direction) ||
    Number(a.delivery === 'datagram') - Number(b.delivery === 'datagram')
  )
}
