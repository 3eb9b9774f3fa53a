import { once } from '@guildhall/contract'
import { z } from 'zod'
import { refuse } from '../../../kernel/failure.ts'
import type { StoryKind, StoryPlace } from '../../feature.ts'

/** Of each part the last entry that was shown; a part without one has shown none. */
export type Places = Partial<Record<StoryKind, StoryPlace>>

const Shown = once(() => z.record(z.string(), z.tuple([z.int().min(0), z.string().min(1)])))

/** The text that a page is asked for with: the parts have orders of their own, so it has all. */
export function writeCursor(places: Places): string {
  const shown = Object.entries(places).map(([kind, { at_unix_ms, ref }]) => [
    kind,
    [at_unix_ms, ref],
  ])
  return Buffer.from(JSON.stringify(Object.fromEntries(shown))).toString('base64url')
}

/** Refuses what no page has answered with. */
export function readCursor(text: string, kinds: readonly StoryKind[]): Places {
  const shown = Shown().safeParse(parsed(text))
  if (!shown.success) throw noCursor()
  const names = new Map<string, StoryKind>(kinds.map((kind) => [kind, kind]))
  const places: Places = {}
  for (const [name, [at_unix_ms, ref]] of Object.entries(shown.data)) {
    const kind = names.get(name)
    if (kind === undefined || ref.includes('\0') || !ref.isWellFormed()) throw noCursor()
    places[kind] = { at_unix_ms, ref }
  }
  return places
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
}

function noCursor() {
  return refuse.invalid('after is not a place of a timeline')
}
