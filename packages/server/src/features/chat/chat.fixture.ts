import { type ChatMessage, chatApi } from '@guildhall/contract'
import type { ApiAnswer, TestApi } from '../../testing/api.ts'
import { openDesk } from '../../testing/desk.ts'

export type ChatDesk = Awaited<ReturnType<typeof openChatDesk>>

/** The admin's requests about chat on one node. */
export async function openChatDesk(api: Pick<TestApi, 'call'>) {
  const desk = await openDesk(api)
  const pathOf = (channel: string) => `/chat/${encodeURIComponent(channel)}/messages`

  const append = (channel: string, body: unknown, headers?: Record<string, string>) =>
    desk.send('POST', pathOf(channel), body, headers)

  return {
    ...desk,
    append,
    /** Appends a message that must be taken. */
    async say(channel: string, content: string, more: object = {}): Promise<ChatMessage> {
      return messageOf(await append(channel, { sender: 'ada', content, ...more }))
    },
    remove: (channel: string, id: number | string, headers?: Record<string, string>) =>
      desk.send('DELETE', `${pathOf(channel)}/${id}`, undefined, headers),
    async history(channel: string, query = '') {
      const answer = await desk.send('GET', pathOf(channel) + query)
      return chatApi.history.ok.parse(answer.body)
    },
    async list(query = '') {
      return chatApi.list.ok.parse((await desk.send('GET', `/chat${query}`)).body)
    },
  }
}

/** Reads the message that an append was answered with. */
export function messageOf(answer: ApiAnswer): ChatMessage {
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
  return chatApi.append.ok.parse(answer.body)
}
