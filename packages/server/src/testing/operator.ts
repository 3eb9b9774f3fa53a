import { auditApi, consoleApi } from '@guildhall/contract'
import type { TestApi } from './api.ts'

/** An operator at work on one node. */
export type Operator = {
  readonly token: string
  /** A request under the operator's token; `path` is relative to `/console/v1`. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): ReturnType<TestApi['call']>
  /** The newest entries of the trail with this target, as `[action, details]`, oldest first. */
  trailOf(target: string): Promise<[action: string, details: string][]>
}

const viewer = { username: 'watcher', password: 'look but do not touch' }
/** A node with an operator who may only look. */
export const viewerKeys = {
  'console.viewer_username': viewer.username,
  'console.viewer_password': viewer.password,
}

const admin = { username: 'admin', password: 'password' }

/** Signs in who may only look, on a node that was opened with `viewerKeys`. */
export const openViewer = (api: Pick<TestApi, 'call'>): Promise<Operator> =>
  openOperator(api, viewer)

/** Signs an operator in, by default the admin. */
export async function openOperator(
  api: Pick<TestApi, 'call'>,
  operator = admin,
): Promise<Operator> {
  const login = await api.call('POST', '/console/v1/login', { body: operator })
  const { token } = consoleApi.login.ok.parse(login.body)
  const send: Operator['send'] = (method, path, body, headers = {}) =>
    api.call(method, `/console/v1${path}`, { token, headers, body })
  return {
    token,
    send,
    async trailOf(target) {
      const answer = await send('GET', '/audit?limit=500')
      const { entries } = auditApi.list.ok.parse(answer.body)
      const seen = entries.filter((entry) => entry.target === target)
      return seen.map(({ action, details }): [string, string] => [action, details]).reverse()
    },
  }
}
