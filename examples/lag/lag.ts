import assert from 'node:assert/strict'
import { createPlayer } from '@guildhall/client'
import { type ConsoleClient, createConsoleClient } from '@guildhall/client/console'
import { recordLag } from '@guildhall/client/lag'
import { runExample } from '../run-example.ts'
import { openSlowLine } from './slow-line.ts'

type LagOptions = { print?: (line: string) => void }
type Report = Awaited<ReturnType<ConsoleClient['lag']['report']>>

const tickKind = 100
const ticksPerSec = 20
const recordedMs = 6000

/**
 * Three bots play in a room, and one of them says that it lags. An operator has the arrivals of all
 * three recorded for some seconds and reads the reports: whose lag is it, the node's or the way's?
 *
 * The node needs what `node.toml` says, and a folder for the recordings.
 */
export async function whoseLag(baseUrl: string, { print = () => {} }: LagOptions): Promise<void> {
  const line = await openSlowLine(baseUrl)
  const client = createConsoleClient(baseUrl)
  await client.signIn({ username: 'admin', password: 'password' })
  const room = `lag-${crypto.randomUUID()}`
  const bots = await Promise.all([
    join(baseUrl, { name: 'ana', room }),
    join(line.url, { name: 'ben', room }),
    join(baseUrl, { name: 'cem', room }),
  ])
  try {
    const reports = await recordAll(client, bots, print)
    const late = bots.map(({ name, participant }) => {
      const report = reports.find((each) => each.participant === participant)
      assert.ok(report, `there is a report on ${name}`)
      print(`${name}: ${describe(report)}`)
      return { name, onTheWay: stallsOf(report.summaries) - stallsOf(report.server ?? []) }
    })
    const [worst] = late.toSorted((a, b) => b.onTheWay - a.onTheWay)
    assert.equal(worst?.name, 'ben')
    assert.ok(worst.onTheWay >= 3, 'the way of ben stalled, and the node did not')
    print(`it is the way to ${worst.name}, not the node`)
  } finally {
    await Promise.all(bots.map((bot) => bot.leave()))
    line.close()
  }
}

type Bot = { name: string; participant: number; roomId: number; leave(): Promise<void> }

async function join(url: string, { name, room }: { name: string; room: string }): Promise<Bot> {
  const player = createPlayer(url)
  const unique = `${name}-${crypto.randomUUID()}`
  await player.signIn.device({ id: unique, create: true, username: unique })
  const connection = await player.connect()
  recordLag(connection, { consent: ({ kinds }) => kinds.every(({ kind }) => kind === tickKind) })
  const { id } = await connection.rooms.joinOrCreate(room)
  // The node has heard by then that the bot can record.
  await connection.rpc('ready')
  return {
    name,
    participant: connection.participant,
    roomId: id,
    async leave() {
      await connection.close()
      await player.logout()
    },
  }
}

/** Records for some seconds, has everything uploaded, and waits for the reports. */
async function recordAll(
  client: ConsoleClient,
  bots: readonly Bot[],
  print: (line: string) => void,
): Promise<Report[]> {
  const { capture_id } = await ask<{ capture_id: string }>(client, 'lag.start', {
    participants: bots.map(({ participant }) => participant),
    label: 'whose lag is it?',
    filters: [{ kind: tickKind, direction: 'inbound' }],
    duration_ms: 30_000,
    send_rate_hz: ticksPerSec,
  })
  await stateOf(client, capture_id, 'recording', bots.length)
  print('all three record')
  await new Promise((resolve) => setTimeout(resolve, recordedMs))
  await ask(client, 'lag.flush', { capture_id })
  await stateOf(client, capture_id, 'uploaded', bots.length)
  for (;;) {
    const { items } = await client.lag.reports({ query: { limit: 100 } })
    const own = items.filter((report) => report.capture_id === capture_id)
    if (own.every(({ status }) => status === 'complete')) return own
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

type State = { state: string; recorders: { status: string }[] }

async function stateOf(client: ConsoleClient, capture_id: string, status: string, count: number) {
  for (;;) {
    const { recorders } = await ask<State>(client, 'lag.status', { capture_id })
    if (recorders.filter((recorder) => recorder.status === status).length === count) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Captures are started by the built-in RPCs of the console; no script is needed for that. */
async function ask<T>(client: ConsoleClient, method: string, payload: object): Promise<T> {
  const body = { payload: JSON.stringify(payload) }
  const answer = await client.runtime.rpc({ params: { method }, body })
  assert.ok(answer.ok, `${method} was refused`)
  return JSON.parse(answer.reply) as T
}

/** How often nothing came for more than a quarter of a second. */
function stallsOf(summaries: Report['summaries']): number {
  return summaries.reduce((sum, { histogram }) => sum + histogram.overflow_count, 0)
}

function describe({ summaries, server }: Report): string {
  const [client] = summaries
  const [node] = server ?? []
  const ms = (us: number | null | undefined) => `${Math.round((us ?? 0) / 1000)} ms`
  return (
    `spacing mean ${ms(client?.mean_interarrival_us)}, max ${ms(client?.max_interarrival_us)}; ` +
    `the node sent with max ${ms(node?.max_interarrival_us)}`
  )
}

if (import.meta.main) {
  const start =
    'npm start -- --config examples/lag/node.toml --set lag_diagnostics.raw_root=/tmp/guildhall-lag'
  await runExample((baseUrl, print) => whoseLag(baseUrl, { print }), start)
}
