import type { chatScript } from '@guildhall/contract'
import type { LivePlayers } from '../../kernel/play/delivery.ts'
import { byScript, type ScriptPart } from '../../kernel/play/script.ts'
import { pushChatEvent } from './chat.push.ts'
import type { Chat } from './chat.service.ts'

/** Channels for the game's script. Nothing goes to players unless the script pushes it. */
export function chatFunctions(
  chat: Chat,
  players: Pick<LivePlayers, 'push'>,
): ScriptPart<typeof chatScript> {
  return {
    'chat.append': (caller, { channel, sender, content, options }) =>
      chat.append(byScript(caller), { channel, sender, content, ...options }),
    'chat.history': async (_caller, { channel, options }) => {
      const { items, next } = await chat.history({ channel, ...options })
      return { items, next: next ?? null }
    },
    'chat.remove': (caller, key) => chat.delete(byScript(caller), key),
    'chat.push': (_caller, { user_ids, event }) => pushChatEvent(players, user_ids, event),
  }
}
