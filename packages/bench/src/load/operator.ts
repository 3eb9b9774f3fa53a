import { HttpConnection, httpRequest } from './http-connection.ts'

/** The admin of a node that was configured no other, who may do everything. */
const credentials = { username: 'admin', password: 'password' }

/** Signs the admin in and answers the token. */
export async function signInOperator(port: number): Promise<string> {
  const connection = await HttpConnection.open(port)
  const request = httpRequest('POST', '/console/v1/login', { body: credentials })
  const { body } = await succeeded(connection, request)
  connection.close()
  return memberOf(body, 'token')
}

/** Creates so many accounts as an operator does; answers their ids. */
export async function createAccounts(
  port: number,
  token: string,
  count: number,
): Promise<string[]> {
  const connection = await HttpConnection.open(port)
  const ids: string[] = []
  for (let made = 0; made < count; made += 1) {
    const body = { username: `bench-${made}` }
    const request = httpRequest('POST', '/console/v1/accounts', { token, body })
    ids.push(memberOf((await succeeded(connection, request)).body, 'id'))
  }
  connection.close()
  return ids
}

/** Makes so many API keys of one scope; answers their secrets. */
export async function createApiKeys(port: number, scope: string, count: number): Promise<string[]> {
  const token = await signInOperator(port)
  const connection = await HttpConnection.open(port)
  const secrets: string[] = []
  for (let made = 0; made < count; made += 1) {
    const body = { name: `bench-${made}`, scopes: [scope], expires_at: null }
    const request = httpRequest('POST', '/console/v1/api-keys', { token, body })
    secrets.push(memberOf((await succeeded(connection, request)).body, 'secret'))
  }
  connection.close()
  return secrets
}

async function succeeded(connection: HttpConnection, request: Buffer) {
  const answer = await connection.fetch(request)
  if (answer.status < 300) return answer
  throw new Error(`an operator was answered ${answer.status}: ${JSON.stringify(answer.body)}`)
}

function memberOf(body: unknown, name: string): string {
  const value = (body as { readonly [name: string]: unknown } | undefined)?.[name]
  if (typeof value !== 'string') throw new Error(`an answer has no ${name}`)
  return value
}
