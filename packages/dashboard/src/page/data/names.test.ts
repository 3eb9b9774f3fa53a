import { expect, it, vi } from 'vitest'

/** The requests that have no answer yet, in the order of their asking. */
const asked = vi.hoisted((): { ids: string[]; answer(isFailing: boolean): void }[] => [])

vi.mock('./console-client.ts', () => ({
  call: (read: (client: unknown) => unknown) => read({ consoleAccounts: { usernames } }),
}))

// Another test of this worker may have loaded it with what is mocked here.
vi.resetModules()
const { readNames } = await import('./names.ts')

function usernames({ query: { user_ids: ids } }: { query: { user_ids: string[] } }) {
  return new Promise((resolve, reject) => {
    const items = ids.map((id) => ({ user_id: id, username: `name of ${id}` }))
    const answer = (isFailing: boolean) =>
      isFailing ? reject(new Error('no')) : resolve({ items })
    asked.push({ ids, answer })
  })
}

it('[H-OPS-1] of very many names two requests are under way at a time, the newest first', async () => {
  const idsOf = (place: string) => Array.from({ length: 100 }, (_, index) => `${place}-${index}`)
  const places = ['a', 'b', 'c', 'd', 'e']
  const names = readNames(places.flatMap(idsOf))
  const seen: string[] = []
  for (const underWay of [2, 2, 2, 2, 1]) {
    await expect.poll(() => asked.length).toBe(underWay)
    const [first] = asked.splice(0, 1)
    seen.push(first?.ids[0]?.[0] ?? '')
    first?.answer(seen.length === 1)
  }
  expect(seen).toEqual(['a', 'b', 'e', 'd', 'c'])
  // Those of the request that has failed have none.
  expect((await names).size).toBe(400)
  expect((await names).get('c-7')).toBe('name of c-7')
  expect(asked).toEqual([])
})
