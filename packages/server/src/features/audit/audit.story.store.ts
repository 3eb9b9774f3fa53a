import type { Queries } from '../../database/database.ts'
import { ofOneUser } from '../../database/reads/of-one-user.ts'
import { statement } from '../../database/statement.ts'
import { auditUnsealed } from '../../database/tables/audit.ts'
import { pick } from '../../database/tables/table.ts'

const storyColumns = pick(auditUnsealed, 'id', 'time_unix_ms', 'actor', 'key_name', 'action')
const row = { ...storyColumns, ...pick(auditUnsealed, 'target', 'details') }
const names = Object.keys(row).join(', ')
const params = { user_id: 'text', id: 'text', limit: 'integer' } as const

/** Whom an entry is about: spelt like the index, so that PostgreSQL sees that it fits. */
const subject = "substr(rtrim(target, ')'), length(rtrim(target, ')')) - 36)"

const sealedAbout = statement({
  name: 'audit.sealed-about',
  text: `SELECT ${names} FROM audit_entries WHERE ${ofOneUser(subject, { id: ':id' })}`,
  params,
  row,
})

/** They are those of the last second, unless the sealer is behind: there is no index. */
const unsealedAbout = statement({
  name: 'audit.unsealed-about',
  text: `SELECT DISTINCT ${names} FROM audit_unsealed WHERE ${subject} = :user_id AND id < :id
    ORDER BY id DESC LIMIT :limit`,
  params,
  row,
  long: true,
})

type About = { user_id: string; id: string; limit: number }

/** The newest entries about one account, each once although the sealer moves them meanwhile. */
export async function entriesAbout(tx: Queries, about: About) {
  const unsealed = await tx.all(unsealedAbout, about)
  const sealed = await tx.all(sealedAbout, about)
  const byId = new Map([...sealed, ...unsealed].map((each) => [each.id, each]))
  return [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, about.limit)
}
