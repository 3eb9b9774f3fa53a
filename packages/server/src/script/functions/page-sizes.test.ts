import { type ScriptFunction, scriptApi } from '@guildhall/contract'
import { expect, it } from 'vitest'
import { checkedArguments } from './arguments.ts'

/** Functions with a page size, by how it is bounded, with arguments that are right. */
const clamped: readonly [name: keyof typeof scriptApi, args: readonly unknown[], cap: number][] = [
  ['wallet.ledger', ['ana'], 200],
  ['leaderboards.records', ['cup'], 500],
  ['notifications.list', ['ana'], 200],
  ['chat.history', ['lobby'], 200],
  ['groups.list', [], 200],
]
const strict: typeof clamped = [
  ['notifications.push_unread', [1], 100],
  ['storage_index_query', ['by_level', {}], 100],
]

const refusal = expect.objectContaining({ code: 'invalid_request' })

function taken(name: keyof typeof scriptApi, args: readonly unknown[], limit: number): unknown {
  const row: ScriptFunction = scriptApi[name]
  return checkedArguments(name, row, [...args, { limit }]).options
}

it.each(clamped)('[S-API-32] %s clamps its page as the console does', (name, args, cap) => {
  for (const [limit, size] of [
    [0, 1],
    [1, 1],
    [cap, cap],
    [cap + 1, cap],
  ] as const) {
    expect(taken(name, args, limit)).toMatchObject({ limit: size })
  }
  // The console takes digits only: a sign is refused.
  for (const limit of [-1, -100, 0.5]) {
    expect(() => taken(name, args, limit)).toThrow(refusal)
  }
})

it.each(strict)('[S-API-32] %s takes only pages that it has', (name, args, cap) => {
  for (const limit of [1, cap]) expect(taken(name, args, limit)).toMatchObject({ limit })
  for (const limit of [-1, 0, cap + 1, 0.5]) {
    expect(() => taken(name, args, limit)).toThrow(refusal)
  }
})
