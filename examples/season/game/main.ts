/// <reference path="../../../packages/server/guildhall.d.ts" />

/** Messages of this kind are news of the season, as JSON. */
const newsKind = 101
const minuteMs = 60_000
/** Gold for the first three of a cup. */
const prizes = [100, 50, 25]

/** What is under way, kept where a restart does not reach it. */
type Cups = { open: string | null; running: string | null }

/**
 * The season runs itself: each minute the cup that was open begins, and the next one opens. In a
 * game it would be each Friday. It may be run again for the same minute, and finds what is done.
 */
guildhall.schedule('cups', '* * * * *', async ({ due_at_unix_ms }) => {
  const before = await cups()
  const open = `cup-${due_at_unix_ms}`
  if (before.open === open) return
  const running = before.open === null ? null : await begin(before.open, due_at_unix_ms)
  await create(open, due_at_unix_ms)
  await guildhall.storage_write(null, 'season', 'cups', { open, running })
  announce({ news: 'cups', open, running })
})

/** A cup with a board of its own: a minute to enter, a minute to play. */
async function create(id: string, opens: number): Promise<void> {
  const begins = opens + minuteMs
  await unlessDone(guildhall.leaderboards.create({ id }))
  await unlessDone(
    guildhall.tournaments.create({
      id,
      leaderboard_id: id,
      registration_opens_at_unix_ms: opens,
      registration_closes_at_unix_ms: begins,
      starts_at_unix_ms: begins,
      ends_at_unix_ms: begins + minuteMs,
    }),
  )
  await unlessDone(guildhall.tournaments.transition(id, 'registration_open'))
}

/** After a standstill its time may be over: then it is called off. */
async function begin(id: string, nowMs: number): Promise<string | null> {
  const cup = await guildhall.tournaments.get(id)
  const isOver = cup === null || cup.ends_at_unix_ms <= nowMs
  await unlessDone(guildhall.tournaments.transition(id, isOver ? 'cancelled' : 'running'))
  if (isOver) await guildhall.leaderboards.delete(id)
  return isOver ? null : id
}

/** The end comes by itself. Prizes are given once, however often this runs. */
guildhall.on_tournament_completed(async ({ tournament_id, results_total }) => {
  const results = await guildhall.tournaments.results(tournament_id)
  const winners = results.slice(0, prizes.length).map(({ user_id, rank }, place) => {
    return { user_id, rank, gold: prizes[place] ?? 0 }
  })
  if (winners.length > 0) {
    const ops = winners.flatMap(({ user_id, rank, gold }): GuildhallOp[] => [
      { op: 'wallet', user_id, currency: 'gold', delta: gold, reason: tournament_id },
      {
        op: 'notify',
        user_id,
        subject: 'A prize',
        content: { tournament_id, rank, gold },
        push: true,
      },
    ])
    await guildhall.transact(ops, { idempotency_key: `prizes of ${tournament_id}` })
  }
  await guildhall.leaderboards.delete(tournament_id)
  announce({ news: 'completed', tournament_id, results_total, winners })
})

guildhall.on_rpc('cups', () => cups())

/** A player takes part in the cup that is open. */
guildhall.on_rpc('enter', async (ctx) => {
  const { open } = await cups()
  if (ctx.user_id === null) guildhall.fail('guests cannot take part')
  if (open === null) guildhall.fail('no cup is open')
  try {
    return await guildhall.tournaments.register(open, ctx.user_id)
  } catch (error) {
    return isConflict(error) ? guildhall.fail('registration is closed') : Promise.reject(error)
  }
})

/** Here the player says its score; in a game the server would know. */
guildhall.on_rpc('score', async (ctx, body) => {
  const { running } = await cups()
  if (ctx.user_id === null || running === null) guildhall.fail('no cup is running')
  const score = Number(new TextDecoder().decode(body))
  if (!Number.isSafeInteger(score)) guildhall.fail('a score is a whole number')
  const { score: best } = await guildhall.leaderboards.submit(running, ctx.user_id, score)
  return { best }
})

guildhall.on_rpc('gold', async (ctx) => {
  if (ctx.user_id === null) guildhall.fail('guests have none')
  const { gold = 0n } = await guildhall.wallet.get(ctx.user_id)
  return { gold }
})

async function cups(): Promise<Cups> {
  const stored = await guildhall.storage_read(null, 'season', 'cups')
  return { open: null, running: null, ...(stored?.value as Partial<Cups> | undefined) }
}

/** A conflict says that it was done already. */
async function unlessDone(done: Promise<unknown>): Promise<void> {
  await done.catch((error) => {
    if (!isConflict(error)) throw error
  })
}

function isConflict(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'conflict'
}

function announce(news: object): void {
  guildhall.broadcast(newsKind, JSON.stringify(news), false, { scope: 'all' })
}
