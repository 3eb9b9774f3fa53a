import { atEndOfTurn } from '../../../kernel/clock.ts'
import type { Participant } from '../../play/participants/participant.ts'
import type { Registry } from '../../play/participants/registry.ts'
import type { Present } from '../messages.ts'
import type { PresenceUpdate } from './present-accounts.ts'

/** Says who is connected to this node: first everybody, then what has changed. */
export type PresenceFeed = {
  /** A participant may have come or gone. */
  touched(participant: Participant): void
  /** Says everybody, as to somebody new. */
  begin(): void
  /** Says what has changed, at once. */
  flush(): void
  /** The same, also if that is nothing. */
  beat(): void
}

type FeedDeps = {
  registry: Pick<Registry, 'byId' | 'connected'>
  nowMs(): number
  /** False while nobody is there to listen. */
  isHeard(): boolean
  say(update: PresenceUpdate): void
}

export function createPresenceFeed({ registry, nowMs, isHeard, say }: FeedDeps): PresenceFeed {
  const touched = new Set<number>()
  let sequence = 0
  let isPlanned = false

  function present({ context, connectedSinceMs }: Participant): Present {
    const { participant, user_id, username } = context
    const age_ms = Math.max(0, Math.floor(nowMs() - connectedSinceMs))
    return { participant, user_id, username, age_ms }
  }

  function send(): void {
    if (!isHeard()) {
      touched.clear()
      return
    }
    const here: Present[] = []
    const gone: number[] = []
    for (const id of touched) {
      const participant = registry.byId(id)
      const isHere = participant?.isConnected === true && !participant.relayed
      if (isHere) here.push(present(participant))
      else gone.push(id)
    }
    touched.clear()
    sequence += 1
    say({ sequence, isAll: false, here, gone })
  }

  function flush(): void {
    if (touched.size > 0) send()
  }

  return {
    touched({ context }) {
      touched.add(context.participant)
      if (isPlanned) return
      isPlanned = true
      atEndOfTurn(() => {
        isPlanned = false
        flush()
      })
    },
    begin() {
      touched.clear()
      sequence += 1
      const here = Array.from(registry.connected(), present)
      say({ sequence, isAll: true, here, gone: [] })
    },
    flush,
    beat: send,
  }
}
