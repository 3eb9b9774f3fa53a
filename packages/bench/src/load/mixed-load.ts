import type { Child } from '../processes/child.ts'
import { openSessions } from './accounts.ts'
import { refreshes, registrations } from './device-load.ts'
import { HttpConnection, httpRequest } from './http-connection.ts'
import type { HttpLoad } from './http-load.ts'
import { signInOperator } from './operator.ts'

/** So many that no ledger grows long, and nobody waits for another's row. */
const players = 2000
const sessionsPerConnection = 20

/** Of a hundred requests in a row. */
const shares = {
  register: 5,
  login: 10,
  account: 40,
  refresh: 10,
  wallet: 10,
  write: 10,
  read: 15,
} as const

type Work = keyof typeof shares
type Requests = Pick<HttpLoad, 'request' | 'onResponse' | 'status'>

/**
 * What players and the game's own servers ask for, mixed: accounts come and go, are read, paid and
 * stored for. Fills the server with what it needs and gives the requests of one run; `run` keeps
 * the names of several apart.
 */
export async function mixedLoad(
  server: Child,
  connections: number,
): Promise<(run: string) => Promise<Requests>> {
  const { port } = server
  const operator = await signInOperator(port)
  const registered = await openSessions(port, players, registrations('player'))
  const playerOf = (number: number) => {
    const player = registered[(number * 611_953) % registered.length]
    if (player === undefined) throw new Error('nobody has registered')
    return player
  }
  // As `registrations` names them, from 1.
  const login = (number: number) => {
    const body = { id: `device-player-${1 + ((number * 611_953) % players)}` }
    return httpRequest('POST', '/v1/auth/device', { body })
  }
  const object = (number: number) =>
    `/console/v1/storage/saves/slot?user_id=${playerOf(number).user_id}`
  const value = { level: 7, items: ['sword', 'shield', 'lamp'], place: { x: 12, y: 3 } }
  const write = (number: number) =>
    httpRequest('PUT', object(number), { token: operator, body: { value } })
  const works: Record<Exclude<Work, 'register' | 'refresh'>, (number: number) => Buffer> = {
    login,
    account: (number) => httpRequest('GET', '/v1/account', { token: playerOf(number).token }),
    wallet: (number) => {
      const path = `/console/v1/accounts/${playerOf(number).user_id}/wallet`
      return httpRequest('POST', path, { token: operator, body: { currency: 'gold', delta: 1 } })
    },
    write,
    read: (number) => httpRequest('GET', object(number), { token: operator }),
  }
  await store(
    port,
    Array.from({ length: players }, (_, number) => write(number)),
  )
  const schedule = inTurn()
  return async (run) => {
    const sessions = await openSessions(port, connections * sessionsPerConnection, login)
    const refresh = refreshes(
      sessions.map(({ refresh_token }) => refresh_token),
      connections,
    )
    const register = registrations(run)
    const asked = new Map<number, Work>()
    // Each work goes through the players by itself; by the number of all requests it would meet
    // those of its places in the schedule only, a tenth of them.
    const done = { login: 0, account: 0, wallet: 0, write: 0, read: 0 }
    let made = 0
    return {
      status: [200, 201],
      request(connection) {
        made += 1
        const work = schedule[made % schedule.length] ?? 'account'
        asked.set(connection, work)
        if (work === 'register') return register()
        if (work === 'refresh') return refresh.request(connection)
        done[work] += 1
        return works[work](done[work])
      },
      onResponse(connection, response) {
        if (asked.get(connection) === 'refresh') refresh.onResponse(connection, response)
      },
    }
  }
}

/** Sends requests one after another. */
async function store(port: number, requests: readonly Buffer[]): Promise<void> {
  const connection = await HttpConnection.open(port)
  for (const request of requests) {
    const { status, body } = await connection.fetch(request)
    if (status !== 200) throw new Error(`not stored: ${status} ${JSON.stringify(body)}`)
  }
  connection.close()
}

/** A hundred works in their shares, spread evenly. */
function inTurn(): Work[] {
  const all = Object.entries(shares) as [Work, number][]
  return all
    .flatMap(([work, share]) =>
      Array.from({ length: share }, (_, at) => ({ work, at: (at + 0.5) / share })),
    )
    .sort((a, b) => a.at - b.at)
    .map(({ work }) => work)
}
