import { consoleAccountsApi, once } from '@guildhall/contract'
import type { Database } from '../../../database/database.ts'
import type { Actor } from '../../../kernel/audit/actor.ts'
import { refuse } from '../../../kernel/failure.ts'
import type { Stories, StoryEntry, StoryKind, TimelineEntry } from '../../feature.ts'
import { type Places, readCursor, writeCursor } from './cursor.ts'

export type TimelineDeps = {
  db: Database
  stories: Stories
  /** The account in whatever state; undefined when there is none. */
  find(id: string): Promise<object | undefined>
}

export type Timeline = ReturnType<typeof createTimeline>

type TimelineQuery = { after?: string | undefined; limit: number }

/** In the order of entries of one moment. */
const storyKinds = once(() => consoleAccountsApi.timeline.ok.shape.items.element.shape.kind.options)

/** Every part begins behind all that is in it. */
const start = { at_unix_ms: Number.MAX_SAFE_INTEGER, ref: '' } as const

/**
 * Makes what reads the past of an account. Each part gives a page of its own by an index, and the
 * newest of all are taken: a page costs the same wherever it is. Parts go by their own order, which
 * is that of time as far as the clocks of the nodes agree.
 */
export function createTimeline({ db, stories, find }: TimelineDeps) {
  return async (actor: Actor, user_id: string, { after, limit }: TimelineQuery) => {
    const kinds = storyKinds()
    const places = after === undefined ? {} : readCursor(after, kinds)
    if ((await find(user_id)) === undefined) throw refuse.notFound('no account has this id')
    const parts = await Promise.all(
      kinds
        .filter((kind) => isSeen(actor, stories[kind]))
        .map(async (kind) => {
          const before = places[kind] ?? start
          return { kind, rows: await stories[kind].read(db, { user_id, before, limit: limit + 1 }) }
        }),
    )
    return merged(parts, places, limit)
  }
}

function isSeen(actor: Actor, { scope }: Stories[StoryKind]): boolean {
  return scope === undefined || actor.kind !== 'api_key' || actor.scopes.includes(scope)
}

type Part = { kind: StoryKind; rows: readonly StoryEntry[] }

/** The newest of the heads, again and again; of one moment the first kind. */
function merged(parts: readonly Part[], before: Places, limit: number) {
  const heads = parts.map((part) => ({ ...part, at: 0 }))
  const places: Places = { ...before }
  const items: TimelineEntry[] = []
  const newest = () => {
    const left = heads.flatMap((head) => {
      const row = head.rows[head.at]
      return row === undefined ? [] : [{ head, row }]
    })
    return left.reduce<(typeof left)[number] | undefined>(
      (best, one) => (best === undefined || one.row.at_unix_ms > best.row.at_unix_ms ? one : best),
      undefined,
    )
  }
  let next = newest()
  for (; next !== undefined && items.length < limit; next = newest()) {
    const { head, row } = next
    const { at_unix_ms, ref, text } = row
    items.push({ at_unix_ms, kind: head.kind, text, ref })
    places[head.kind] = { at_unix_ms, ref }
    head.at += 1
  }
  return next === undefined ? { items } : { items, next_after: writeCursor(places) }
}
