/// <reference path="../../server/guildhall.d.ts" />

/** Calls of clients: one that computes nothing, and one that submits to a large board. */

guildhall.on_rpc('echo', (_ctx, body) => body)

/** Sends a message back to its sender, in the way in which it came. */
guildhall.on_message(100, ({ sender, unreliable }, body) => {
  guildhall.send(sender, 100, body, unreliable)
})

/** The body is an owner and a score, with a space between them. */
guildhall.on_rpc('submit', async (_ctx, body) => {
  const [owner = '', score = '0'] = new TextDecoder().decode(body).split(' ')
  await guildhall.leaderboards.submit('large', owner, Number(score))
})

/** The first records as the node has them, and taken apart and written again. */
guildhall.on_rpc('top', () => guildhall.leaderboards.records('large', { limit: 100, raw: true }))
guildhall.on_rpc('top-value', () => guildhall.leaderboards.records('large', { limit: 100 }))

/** The body is an owner. */
guildhall.on_rpc('around', async (_ctx, body) => {
  await guildhall.leaderboards.around('large', new TextDecoder().decode(body), 5, 5)
})

/** So many calls of the node or lines in one call of a client. */
const atOnce = 16

guildhall.on_rpc('online', async () => {
  await Promise.all(Array.from({ length: atOnce }, () => guildhall.online([])))
})

guildhall.on_rpc('log', () => {
  for (let n = 0; n < atOnce; n += 1) guildhall.log.write('info', 'bench.line', 'a line of a match')
})

let writes = 0
const value = { hero: 'orc', level: 3, items: ['sword', 'shield', 'boots'], seen: true }

guildhall.on_rpc('write', async () => {
  writes += 1
  await guildhall.storage_write(null, 'saves', `slot-${writes % 10_000}`, { ...value, writes })
})

let reads = 0

guildhall.on_rpc('read', async () => {
  reads += 1
  await guildhall.storage_read(null, 'saves', `slot-${reads % 1000}`)
})

/** The body is whose wallet. */
guildhall.on_rpc('adjust', async (_ctx, body) => {
  await guildhall.wallet.adjust(new TextDecoder().decode(body), 'gold', 1)
})

guildhall.on_rpc('transact', async () => {
  writes += 1
  const key = (n: number) => `slot-${(writes * 8 + n) % 10_000}`
  await guildhall.transact(
    Array.from({ length: 8 }, (_, n) => {
      return { op: 'write', owner: null, collection: 'saves', key: key(n), value } as const
    }),
  )
})
