import { httpRequest } from './http-connection.ts'

/** Registrations of new accounts by device, each of its own name; `run` keeps runs apart. */
export function registrations(run: string): () => Buffer {
  let made = 0
  return () => {
    made += 1
    const name = `${run}-${made}`
    const body = { id: `device-${name}`, create: true, username: name }
    return httpRequest('POST', '/v1/auth/device', { body })
  }
}

/**
 * Refreshes of sessions that connections share out among them, each in turn: the next request of a
 * session carries the token that its last response brought.
 */
export function refreshes(tokens: readonly string[], connections: number) {
  const own = Array.from({ length: connections }, (_, connection) => {
    return tokens.filter((_token, at) => at % connections === connection)
  })
  const of = (connection: number) => own[connection] ?? []
  return {
    request(connection: number) {
      const [refresh_token] = of(connection)
      return httpRequest('POST', '/v1/session/refresh', { body: { refresh_token } })
    },
    onResponse(connection: number, response: Buffer) {
      of(connection).shift()
      of(connection).push(refreshTokenOf(response))
    },
  }
}

const field = Buffer.from('"refresh_token":"')

/** Reads the token out of a response without parsing all of it. */
function refreshTokenOf(response: Buffer): string {
  const start = response.indexOf(field) + field.length
  return response.toString('latin1', start, response.indexOf('"', start))
}
