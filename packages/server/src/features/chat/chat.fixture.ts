import { type ChatMessage, chatApi } from '@guildhall/contract'
import type { ApiAnswer, TestApi } from '../../testing/api.ts'
import { openOperator } from '../../testing/operator.ts'

export type ChatOperator = Awaited<ReturnType<typeof openChatOperator>>

/** The admin's requests about chat on one node. */
export async function openChatOperator(api: Pick<TestApi, 'call'>) {
  const operator = await openOperator(api)
  const pathOf = (channel: string) => `/chat/${encodeURIComponent(channel)}/messages`

  const append = (channel: string, body: unknown, headers?: Record<string, string>) =>
    operator.send('POST', pathOf(channel), body, headers)

  return {
    ...operator,
    append,
    /** Appends a message that must be taken. */
    async say(channel: string, content: string, more: object = {}): Promise<ChatMessage> {
      return messageOf(await append(channel, { sender: 'ada', content, ...more }))
    },
    remove: (channel: string, id: number | string, headers?: Record<string, string>) =>
      operator.send('DELETE', `${pathOf(channel)}/${id}`, undefined, headers),
    async history(channel: string, query = '') {
      const answer = await operator.send('GET', pathOf(channel) + query)
      return chatApi.history.ok.parse(answer.body)
    },
    async list(query = '') {
      return chatApi.list.ok.parse((await operator.send('GET', `/chat${query}`)).body)
    },
  }
}

/** Reads the message that an append was answered with. */
export function messageOf(answer: ApiAnswer): ChatMessage {
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
  return chatApi.append.ok.parse(answer.body)
}
