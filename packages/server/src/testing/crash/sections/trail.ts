import type { AuditAction } from '@guildhall/contract'
import type { Queries } from '../../../database/database.ts'
import { statement } from '../../../database/statement.ts'
import { expectThat } from '../operation.ts'

/** What the audit trail reports of one mutation. */
export type Entry = { action: AuditAction; target: string; details: string }

/** Logins and reads go through a queue, and a kill may lose some. */
const queued: ReadonlySet<string> = new Set<AuditAction>([
  'console.login',
  'console.login_failed',
  'console.read',
])

export type Trail = ReturnType<typeof createTrail>

/** The trail as it must be: one entry for every mutation that was done, and no other. */
export function createTrail() {
  const expected = new Map<string, number>()
  const stored = new Map<string, number>()

  return {
    expect(entry: Entry): void {
      count(expected, nameOf(entry))
    },
    /** Whether the store has an entry that nothing known explains: so the mutation was done. */
    has(entry: Entry): boolean {
      const name = nameOf(entry)
      return (stored.get(name) ?? 0) > (expected.get(name) ?? 0)
    },
    async read(state: Queries): Promise<void> {
      stored.clear()
      for (const row of await state.all(entries, {})) {
        if (!queued.has(row.action)) count(stored, nameOf(row))
      }
    },
    check(): void {
      for (const name of new Set([...expected.keys(), ...stored.keys()])) {
        const [is, should] = [stored.get(name) ?? 0, expected.get(name) ?? 0]
        expectThat(is === should, `the trail has ${is} entries instead of ${should}: ${name}`)
      }
    },
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

function nameOf({ action, target, details }: { action: string; target: string; details: string }) {
  return JSON.stringify([action, target, details])
}

const entries = statement({
  name: 'crash.audit',
  text: `SELECT action, target, details FROM (
      SELECT action, target, details, actor, actor_type, role FROM audit_entries
      UNION ALL SELECT action, target, details, actor, actor_type, role FROM audit_unsealed
    ) AS trail WHERE actor = 'admin' AND actor_type = 'human' AND role = 'admin'`,
  row: { action: 'text', target: 'text', details: 'text' },
})
