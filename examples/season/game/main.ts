/// <reference path="../../../packages/server/guildhall.d.ts" />

/** Messages of this kind are news of the season, as JSON. */
const newsKind = 101

/** A player takes part in a tournament by asking for it; the body is its id. */
guildhall.on_rpc('enter', async (ctx, body) => {
  if (ctx.user_id === null) guildhall.fail('guests cannot take part')
  const id = new TextDecoder().decode(body)
  try {
    return await guildhall.tournaments.register(id, ctx.user_id)
  } catch (error) {
    const isClosed = error instanceof Error && 'code' in error && error.code === 'conflict'
    return guildhall.fail(isClosed ? 'registration is closed' : 'there is no such tournament')
  }
})

/** Everybody who is there hears who has won. It may come twice, which does no harm. */
guildhall.on_tournament_completed(async ({ tournament_id, results_total }) => {
  const [winner] = await guildhall.tournaments.results(tournament_id)
  const winner_id = winner?.user_id ?? null
  announce({ news: 'completed', tournament_id, winner_id, results_total })
})

guildhall.on_leaderboard_reset(({ leaderboard_id, due_at_unix_ms }) => {
  announce({ news: 'reset', leaderboard_id, due_at_unix_ms })
})

function announce(news: object): void {
  guildhall.broadcast(newsKind, JSON.stringify(news), false, { scope: 'all' })
}
