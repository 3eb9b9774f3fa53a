/// <reference path="../../server/guildhall.d.ts" />

/** Calls of clients: one that computes nothing, and one that submits to a large board. */

guildhall.on_rpc('echo', (_ctx, body) => body)

/** The body is an owner and a score, with a space between them. */
guildhall.on_rpc('submit', async (_ctx, body) => {
  const [owner = '', score = '0'] = new TextDecoder().decode(body).split(' ')
  await guildhall.leaderboards.submit('large', owner, Number(score))
})
