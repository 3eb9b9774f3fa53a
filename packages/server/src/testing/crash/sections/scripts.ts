import type { Queries } from '../../../database/database.ts'
import { statement } from '../../../database/statement.ts'
import { expectSame, expectThat, type Operation, operation, type Section } from '../operation.ts'
import type { Random } from '../random.ts'
import type { People } from './people.ts'

type Deps = { people: People; random: Random; mark(kind: string): string }

/** A purchase: so many coins for a user, an object of its own and one of the system's. */
type Purchase = { key: string; user_id: string; delta: number }

/** What only these operations touch; the other sections leave it alone. */
export const scriptCurrency = 'coins'
const bought = 'script-bought'
const receipts = 'script-receipts'
export const scriptCollections: readonly string[] = [bought, receipts]

/** Transactions of the game's script: all that one does is there, or nothing of it. */
export function createScriptsSection({ people, random, mark }: Deps): Section {
  const done = new Map<string, Purchase>()
  let objects: StoredObject[] = []
  let balances: StoredBalance[] = []

  function next(): Operation | undefined {
    const known = random.chance(0.2) ? random.pick([...done.values()]) : undefined
    if (known !== undefined) return repeat(known)
    const user_id = random.pick(people.ids())
    if (user_id === undefined) return undefined
    return buy({ key: mark('script'), user_id, delta: random.below(20) + 1 })
  }

  function buy(purchase: Purchase): Operation {
    return operation<object>({
      request: requestOf(purchase),
      heard({ body }) {
        expectSame(Object(body).replayed, false, 'whether it was done before')
        return {}
      },
      found: () => objects.find(({ key }) => key === purchase.key),
      apply: () => void done.set(purchase.key, purchase),
    })
  }

  /** What is done under a key is not done again, and says so. */
  function repeat(purchase: Purchase): Operation {
    return operation<object>({
      request: requestOf(purchase),
      heard({ body }) {
        expectSame(Object(body).replayed, true, 'whether it was done before')
        return {}
      },
      found: () => undefined,
      apply() {},
    })
  }

  return {
    weight: 5,
    next,
    async read(state: Queries) {
      objects = await state.all(objectRows, {})
      balances = await state.all(balanceRows, {})
    },
    check() {
      const noted = [...done.values()].flatMap(({ key, user_id, delta }) => [
        [bought, user_id, key, delta],
        [receipts, '', key, delta],
      ])
      const stored = objects.map(({ collection, user_id, key, value }) => {
        return [collection, user_id, key, JSON.parse(value).delta]
      })
      expectSame(stored.sort(), noted.sort(), 'what the script stored')
      const sums = new Map<string, number>()
      for (const { user_id, delta } of done.values()) {
        sums.set(user_id, (sums.get(user_id) ?? 0) + delta)
      }
      const held = balances.map(({ user_id, balance }) => [user_id, balance] as const)
      expectSame(held.sort(), [...sums].sort(), 'the coins')
      expectThat(done.size === 0 || balances.length > 0, 'no coins are there')
    },
  }
}

function requestOf({ key, user_id, delta }: Purchase) {
  const write = { op: 'write', key, value: { delta } }
  const ops = [
    { op: 'wallet', user_id, currency: scriptCurrency, delta, reason: key },
    { ...write, owner: user_id, collection: bought },
    { ...write, owner: null, collection: receipts },
  ]
  return { method: 'RPC', path: 'transact', body: [ops, { idempotency_key: key }] }
}

type StoredObject = Record<'collection' | 'user_id' | 'key' | 'value', string>
type StoredBalance = { user_id: string; balance: number }

const objectRows = statement({
  name: 'crash.script-objects',
  text: `SELECT collection, user_id, key, value FROM storage_objects
    WHERE collection IN ('${bought}', '${receipts}')`,
  row: { collection: 'text', user_id: 'text', key: 'text', value: 'text' },
})

const balanceRows = statement({
  name: 'crash.coins',
  text: `SELECT user_id, balance FROM wallet_balances WHERE currency = '${scriptCurrency}'`,
  row: { user_id: 'text', balance: 'integer' },
})
