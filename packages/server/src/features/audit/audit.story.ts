import type { Database } from '../../database/database.ts'
import type { AuditRecorder, RecordedEvent } from '../../kernel/audit/recorder.ts'
import type { Stories } from '../feature.ts'
import { entriesAbout } from './audit.story.store.ts'

/** What is shown of an entry, of the trail or of the ring. */
type Shown = {
  id: string
  time_unix_ms: number
  actor: string
  key_name?: string | null
  action: string
  target: string
  details: string
}

type StoryDeps = { db: Pick<Database, 'durable'>; recorder: Pick<AuditRecorder, 'newest'> }

/** Behind every id. */
const last = '\u{10ffff}'

/** What operators and scripts did to an account: of the ring, where nothing else is kept. */
export function createAuditStory({ db, recorder }: StoryDeps): Stories['audit'] {
  return {
    scope: 'audit:read',
    async read(tx, { user_id, before, limit }) {
      const id = before.ref === '' ? last : before.ref
      const found: readonly Shown[] = db.durable
        ? await entriesAbout(tx, { user_id, id, limit })
        : recorder.newest(limit, (event) => event.id < id && isAbout(event, user_id))
      return found.map((entry) => ({
        at_unix_ms: entry.time_unix_ms,
        ref: entry.id,
        text: textOf(entry, user_id),
      }))
    },
  }
}

function isAbout({ target }: RecordedEvent, user_id: string): boolean {
  return target.replace(/\)+$/, '').endsWith(user_id)
}

/** Whose timeline it is needs no word; where else it was does. */
function textOf({ actor, key_name, action, target, details }: Shown, user_id: string): string {
  const place = target.replace(user_id, '').replace(/^(account|user) |[/ ]*(\(user \))?$/g, '')
  return `${action}${place === '' ? '' : ` ${place}`} by ${key_name ?? actor}: ${details}`
}
