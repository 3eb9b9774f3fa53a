import { type ChatEvent, type ChatPush, kinds, stringifyExact } from '@guildhall/contract'
import type { LivePlayers } from '../../kernel/play/delivery.ts'

/** Sends an event of a channel to the live connections of these accounts. */
export function pushChatEvent(
  players: Pick<LivePlayers, 'push'>,
  userIds: readonly string[],
  event: ChatEvent,
): void {
  players.push(userIds, kinds.CHAT_EVENT.first, Buffer.from(stringifyExact(chatPushOf(event))))
}

/** What an event does not say is null on the wire. */
function chatPushOf(event: ChatEvent): ChatPush {
  const { type, channel_id, message, presence, expires_at, watermark_event_id } = event
  return {
    version: 1,
    type,
    channel_id,
    event_id: message?.last_event_id ?? null,
    message: message ?? null,
    presence: presence ?? null,
    expires_at: expires_at ?? null,
    watermark_event_id: watermark_event_id ?? null,
  }
}
