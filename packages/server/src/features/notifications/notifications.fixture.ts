import { auditApi, consoleApi, notificationsApi } from '@guildhall/contract'
import { readJson } from '../../kernel/json/json-reader.ts'
import type { TestApi } from '../../testing/api.ts'

const path = '/console/v1/notifications'

export type NotificationOperator = Awaited<ReturnType<typeof openNotificationOperator>>

/** The admin's requests about notifications on one node. */
export async function openNotificationOperator(api: TestApi) {
  const credentials = { username: 'admin', password: 'password' }
  const login = await api.call('POST', '/console/v1/login', { body: credentials })
  const { token } = consoleApi.login.ok.parse(login.body)
  const read = (query = '') => api.call('GET', path + query, { token })
  /** A string is sent as it is. */
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    api.call('POST', path, { token, body, headers })
  return {
    read,
    post,
    /** Sends one that must succeed. */
    async send(request: { user_id?: string; subject?: string }) {
      const answer = await post({ subject: 'news', ...request })
      if (answer.status !== 201) throw new Error(`${answer.status}: ${answer.text}`)
      return notificationsApi.send.ok.parse(readJson(answer.text).value)
    },
    async list(query = '') {
      const answer = await read(query)
      if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
      return notificationsApi.list.ok.parse(readJson(answer.text).value)
    },
    async ids(query = '') {
      const { items, total } = await this.list(query)
      return { ids: items.map(({ id }) => id), total }
    },
    remove: (id: number | string) => api.call('DELETE', `${path}/${id}`, { token }),
    async trail() {
      const asked = '/console/v1/audit?limit=500&action=notifications.'
      const answer = await api.call('GET', asked, { token })
      return auditApi.list.ok.parse(answer.body).entries
    },
  }
}
