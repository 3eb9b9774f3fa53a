import type { Machine } from './machine.ts'

/** A text in the memory, as C reads it; the caller frees it. */
export function newText(machine: Machine, text: string): number {
  const bytes = Buffer.from(`${text}\0`)
  const at = machine._malloc(bytes.length)
  machine.HEAPU8.set(bytes, at)
  return at
}
