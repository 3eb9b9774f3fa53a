import type { OpenedDatabase } from '../../../database/migrations/schema-access.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { type AuditRow, auditStore } from '../audit.store.ts'
import { chainStore } from './chain.store.ts'
import { type Link, linkHash } from './chain.ts'
import { sealerOn } from './sealer.fixture.ts'
import { verifyChain } from './verify.ts'

/** What tests do to the chain of the database that is open at the moment. */
export function chainOf(opened: () => { db: OpenedDatabase; clock: Clock }) {
  const madeFor = new WeakMap<OpenedDatabase, number>()

  function entry(): AuditRow {
    const { db, clock } = opened()
    const made = (madeFor.get(db) ?? 0) + 1
    madeFor.set(db, made)
    return {
      id: `au1-${String(made).padStart(29, '0')}`,
      node_id: 'dev-1',
      time_unix_ms: clock.nowUnixMs(),
      actor_type: 'human',
      actor: `ädmin-${made}`,
      role: 'admin',
      credential_id: null,
      key_name: made % 2 === 0 ? null : '\u{1f511}',
      key_scopes: null,
      action: 'groups.create',
      target: `"${made}"`,
      details: '',
      match_id: null,
    }
  }
  const write = (count: number) =>
    auditStore.insert(opened().db, Array.from({ length: count }, entry))
  const verify = (options: Partial<Parameters<typeof verifyChain>[1]> = {}) =>
    verifyChain(opened().db, { key: undefined, ...options })
  /** Does to the table what nobody should. */
  const meddle = (text: string) => opened().db.schema.transaction((tx) => tx.ddl(text))
  const rows = () => chainStore.sealedAfter(opened().db, { after: 0, limit: 10_000 })
  const linkAt = async (seq: number): Promise<Link> => {
    const row = (await rows()).find((each) => each.seq === seq)
    if (row?.hash == null) throw new Error(`there is no link ${seq}`)
    return { seq, hash: row.hash }
  }

  /** What somebody can do who may write to the database and does not know the key. */
  async function forge(seq: number): Promise<void> {
    const { db } = opened()
    await write(1)
    const [unsealed] = await chainStore.unsealed(db, 1)
    if (unsealed === undefined) throw new Error('nothing is to be sealed')
    const { number, sealed_as: _, ...row } = unsealed
    const link = { seq, keyed: 0, ...row }
    const hash = linkHash((await linkAt(seq - 1)).hash, link, undefined)
    await chainStore.seal(db, [{ number, seq, hash, keyed: 0 }])
    await chainStore.moveEnd(db, 'head', { seq, hash })
    await chainStore.removeUnsealed(db, [unsealed])
  }

  async function sealed(count: number, options: Parameters<typeof sealerOn>[2] = {}) {
    const { db, clock } = opened()
    await write(count)
    await sealerOn(db, clock, options).seal()
  }

  return { entry, write, verify, meddle, rows, linkAt, forge, sealed }
}
