import { type ApiKey, apiKeysApi, auditApi, consoleApi, type Scope } from '@guildhall/contract'
import type { ApiAnswer, TestApi } from '../../testing/api.ts'

const path = '/console/v1/api-keys'

/** A key as its maker sees it once: what is known of it, and its value. */
export type MadeKey = { key: ApiKey; secret: string }

export type KeyOperator = Awaited<ReturnType<typeof openKeyOperator<TestApi>>>

/** The admin's requests about keys on one node, and what machines do with them there. */
export async function openKeyOperator<A extends Pick<TestApi, 'call'>>(api: A) {
  const token = await signIn(api, { username: 'admin', password: 'password' })
  const post = (to: string, body: unknown, headers: Record<string, string> = {}) =>
    api.call('POST', path + to, { token, body, headers })
  return {
    api,
    token,
    post,
    read: (of = '') => api.call('GET', path + of, { token }),
    rotate: (id: string, generation: unknown) => post(`/${id}/rotate`, { generation }),
    revoke: (id: string, generation: unknown) => post(`/${id}/revoke`, { generation }),
    /** Makes a key that must succeed. */
    async make(request: { name?: string; scopes?: readonly Scope[]; expires_at?: number | null }) {
      return madeOf(await post('', { name: 'ci', scopes: ['audit:read'], ...request }), 201)
    },
    async get(id: string) {
      return apiKeysApi.get.ok.parse((await api.call('GET', `${path}/${id}`, { token })).body)
    },
    async list() {
      return apiKeysApi.list.ok.parse((await api.call('GET', path, { token })).body).keys
    },
    /** A read that every valid key may make. */
    me: (value: string) => api.call('GET', '/console/v1/me', { token: value }),
    /** The newest entries of the trail whose action begins like this. */
    async trail(action = 'api_keys.') {
      const answer = await api.call('GET', `/console/v1/audit?limit=500&action=${action}`, {
        token,
      })
      return auditApi.list.ok.parse(answer.body).entries
    },
  }
}

/** Reads what creating or rotating was answered with. */
export function madeOf(answer: ApiAnswer, status: 200 | 201): MadeKey {
  if (answer.status !== status) throw new Error(`${answer.status}: ${answer.text}`)
  return apiKeysApi.create.ok.parse(answer.body)
}

export async function signIn(
  api: Pick<TestApi, 'call'>,
  body: { username: string; password: string },
) {
  const answer = await api.call('POST', '/console/v1/login', { body })
  return consoleApi.login.ok.parse(answer.body).token
}
