import { StateWriter } from './state-bytes.ts'
import { powersOfTen, stateTypes } from './state-format.ts'
import type { Box, Slot } from './state-shadow.ts'

/**
 * Gives every box and place below a slot its number, and every number its m, and changes nothing.
 */
export function numberingOf(root: Slot): Uint8Array {
  const writer = new StateWriter()
  const boxes: Box[] = []
  const places: (readonly [Slot, Box])[] = []
  if (root.box !== undefined) collect(root.box, boxes, places)
  for (const box of boxes) writeBox(writer, box)
  for (const [slot, box] of places) writePlace(writer, slot, box)
  let last = -1
  for (const [slot] of places) {
    const { place, e, m, value } = slot
    // What a newcomer could not compute from is sent as a number the next time.
    if (m === undefined || value !== m / (powersOfTen[e] ?? 1)) {
      slot.m = undefined
      continue
    }
    writer.varint(stateTypes.decimal + 16 * zigzag(place - last))
    writer.u8(e)
    writer.int(m)
    last = place
  }
  return writer.take()
}

/** Boxes and places by their numbers; boxes of what is gone have theirs too. */
function collect(box: Box, boxes: Box[], places: (readonly [Slot, Box])[]): void {
  const all: Box[] = [box]
  for (const next of all) {
    next.giveBack()
    if (next.number > 0) boxes[next.number - 1] = next
    for (const slot of next.slots) {
      if (slot.place >= 0) places[slot.place] = [slot, next]
      if (slot.box !== undefined && slot.box.number > 0) all.push(slot.box)
    }
  }
}

export function writePlace(writer: StateWriter, slot: Slot, box: Box): void {
  writer.u8(stateTypes.place)
  writer.varint(box.number)
  writer.text(slot.name)
}

export function writeBox(writer: StateWriter, box: Box): void {
  writer.u8(stateTypes.box)
  writer.varint(box.parent?.number ?? 0)
  writer.text(box.name)
}

export function zigzag(step: number): number {
  return step < 0 ? -2 * step - 1 : 2 * step
}
