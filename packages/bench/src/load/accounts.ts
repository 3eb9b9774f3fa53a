import { createPlayer } from '@guildhall/client'
import { SessionTokens } from '@guildhall/contract'
import { HttpConnection, httpRequest } from './http-connection.ts'

/** The credential of the one account that most benchmarks need. */
const deviceId = 'bench-device'

/** A login of that account, as a request to repeat. */
export const deviceLogin = httpRequest('POST', '/v1/auth/device', { body: { id: deviceId } })

/** A first login of an account of its own, as a request. */
export function deviceSignUp(name: string): Buffer {
  const body = { id: `device-of-${name}`, create: true, username: name }
  return httpRequest('POST', '/v1/auth/device', { body })
}

const password = 'a long enough password'

/** A registration by email, as a request; `emailLogin` of the same name signs in afterwards. */
export function emailSignUp(name: string): Buffer {
  const body = { ...emailCredential(name), create: true, username: name }
  return httpRequest('POST', '/v1/auth/email', { body })
}

export function emailLogin(name: string): Buffer {
  return httpRequest('POST', '/v1/auth/email', { body: emailCredential(name) })
}

function emailCredential(name: string) {
  return { email: `${name}@example.com`, password }
}

/** Registers the account and answers the access token of its first session. */
export async function registerDevice(port: number): Promise<string> {
  const { signIn } = createPlayer(`http://127.0.0.1:${port}`)
  const { token } = await signIn.device({ id: deviceId, create: true, username: 'bench' })
  return token
}

/** So many sessions: of the one account, or of those that the requests sign in or register. */
export async function openSessions(
  port: number,
  count: number,
  request: (number: number) => Buffer = () => deviceLogin,
): Promise<SessionTokens[]> {
  const connections = await Promise.all(
    Array.from({ length: loginsInFlight }, () => HttpConnection.open(port)),
  )
  const tokens: SessionTokens[] = []
  let begun = 0
  const logins = connections.map(async (connection) => {
    while (begun < count) {
      begun += 1
      tokens.push(tokensOf(await connection.fetch(request(begun))))
    }
    connection.close()
  })
  await Promise.all(logins)
  return tokens
}

const loginsInFlight = 16

function tokensOf({ status, body }: { status: number; body: unknown }): SessionTokens {
  if (status >= 300) throw new Error(`a sign-in failed: ${status} ${JSON.stringify(body)}`)
  return SessionTokens().parse(body)
}
