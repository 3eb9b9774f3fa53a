import { kinds, noticeBody, noticeCodes, sessionFlags } from '@guildhall/contract'
import type { Clock } from '../../../kernel/clock.ts'
import type { LiveConnection } from '../live/live-connection.ts'

export type NoticeCode = keyof typeof noticeCodes

/** Says to a client that opted in what became of its envelope, at most ten times a second. */
export type Notices = (live: LiveConnection, code: NoticeCode, kind: number) => void

const noticesPerSecMax = 10

const noticeTexts: Record<NoticeCode, string> = {
  no_handler: 'no handler',
  reserved_kind: 'reserved kind',
  malformed_body: 'malformed body',
  wrong_direction: 'kind not allowed in this direction or lane',
  script_unavailable: 'game script unavailable',
  handler_failed: 'handler failed',
}

export function createNotices(clock: Clock): Notices {
  return (live, code, kind) => {
    const { client } = live
    if (!wantsNotices(live)) return
    const nowMs = clock.monotonicMs()
    if (client.notices === undefined || nowMs - client.notices.sinceMs >= 1000) {
      client.notices = { sinceMs: nowMs, count: 0 }
    }
    client.notices.count += 1
    if (client.notices.count > noticesPerSecMax) return
    const body = noticeBody.encode({ code: noticeCodes[code], kind, text: noticeTexts[code] })
    live.send(kinds.NOTICE.first, body)
  }
}

function wantsNotices({ client }: LiveConnection): boolean {
  return ((client.flags ?? 0) & sessionFlags.notices) !== 0
}
