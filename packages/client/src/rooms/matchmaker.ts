import type { MatchmakerMatched, TicketCriteria, TicketStatus } from '@guildhall/contract/wire'
import { kinds } from '@guildhall/contract/wire'
import { GuildhallError } from '../error.ts'
import type { CallOptions } from '../realtime/call-options.ts'
import type { Part, Wire } from '../realtime/part.ts'
import type { Calls } from '../realtime/sending/calls.ts'
import { abortedBy } from '../realtime/sending/deadline.ts'
import { encodePayload, readJson } from '../realtime/sending/payload.ts'
import type { Room } from './room-types.ts'
import type { Rooms } from './rooms.ts'
import type { Search } from './search.ts'

export type Matchmaker = Part & {
  find(criteria?: TicketCriteria, call?: CallOptions): Promise<Search>
}

/** How often a queued ticket is looked at: a cancel by another connection is pushed to nobody. */
const statusMs = 15_000
/** The deadline of an accept is that of its room request. */
const unboundedMs = 2 ** 31 - 1

type Pending = {
  ticketId: string
  signal: AbortSignal | undefined
  isAccepting: boolean
  resolve(room: Room): void
  reject(error: GuildhallError): void
}

/** Searches for a match: a queued ticket each, from `find` to its room. */
export function createMatchmaker(
  wire: Wire,
  { calls, rooms }: { calls: Calls; rooms: Rooms },
): Matchmaker {
  const pending = new Map<string, Pending>()
  let cancelPoll = () => {}

  function accept(
    { ticket_id, join_token }: Pick<MatchmakerMatched, 'ticket_id' | 'join_token'>,
    signal?: AbortSignal,
  ) {
    const payload = encodePayload({ ticket_id, join_token })
    const request = { method: 'matchmaker.accept', payload, call: { timeoutMs: unboundedMs } }
    const begin = () => {
      calls.start(request, (outcome) => {
        if ('error' in outcome && wire.isOpen) rooms.refuse(outcome.error)
      })
      return true
    }
    return rooms.submit({ type: 'accept', begin }, signal === undefined ? {} : { signal })
  }

  function acceptFor(found: Pending, match: { join_token: string }): void {
    if (found.isAccepting) return
    found.isAccepting = true
    const { ticketId, signal } = found
    const lost = (error: GuildhallError) => {
      // The token may still be good: the status after the next `open` shows it.
      if (error.code === 'connection_lost') found.isAccepting = false
      else end(ticketId)?.reject(error)
    }
    accept({ ticket_id: ticketId, join_token: match.join_token }, signal).then(
      (room) => end(ticketId)?.resolve(room),
      lost,
    )
  }

  function end(ticketId: string): Pending | undefined {
    const found = pending.get(ticketId)
    pending.delete(ticketId)
    return found
  }

  function matched(body: Uint8Array): void {
    const { join_token, ...match } = readJson(body) as MatchmakerMatched
    const found = pending.get(match.ticket_id)
    if (found !== undefined) {
      acceptFor(found, { join_token })
      return
    }
    const { ticket_id } = match
    const event = { ...match, accept: () => accept({ ticket_id, join_token }) }
    wire.push('matched', event, body.length)
  }

  function statusOf(ticketId: string): Promise<TicketStatus> {
    // The reply is what the contract says of this method.
    return calls.rpc('matchmaker.status', { ticket_id: ticketId }) as Promise<TicketStatus>
  }

  async function look(found: Pending): Promise<void> {
    const { ticketId } = found
    try {
      const { state, match } = await statusOf(ticketId)
      if (match !== undefined) acceptFor(found, match)
      else if (state !== 'queued' && !found.isAccepting) remove(ticketId)
    } catch (error) {
      const isUnknown = error instanceof GuildhallError && error.code === 'rpc_refused'
      if (isUnknown && !found.isAccepting) remove(ticketId)
    }
  }

  function remove(ticketId: string, reason = ''): void {
    const text = `the ticket has left the queue${reason && `: ${reason}`}`
    end(ticketId)?.reject(new GuildhallError('ticket_removed', text))
  }

  function lookAtAll(): void {
    cancelPoll()
    for (const found of pending.values()) void look(found)
    if (pending.size > 0) cancelPoll = wire.host.startTimer(statusMs, lookAtAll)
  }

  function begin(ticketId: string, signal: AbortSignal | undefined): Search {
    const room = new Promise<Room>((resolve, reject) => {
      pending.set(ticketId, { ticketId, signal, isAccepting: false, resolve, reject })
    })
    room.catch(() => {})
    const search: Search = {
      ticketId,
      room,
      status: () => statusOf(ticketId),
      async cancel() {
        const reply = await calls.rpc('matchmaker.cancel', { ticket_id: ticketId })
        const { cancelled } = reply as { cancelled: boolean }
        if (cancelled) end(ticketId)?.reject(abortedBy(signal))
        return cancelled
      },
    }
    if (pending.size === 1) {
      cancelPoll()
      cancelPoll = wire.host.startTimer(statusMs, lookAtAll)
    }
    return search
  }

  return {
    async find(criteria = {}, { timeoutMs, signal } = {}) {
      if (signal?.aborted) throw abortedBy(signal)
      const call = timeoutMs === undefined ? {} : { timeoutMs }
      const payload = encodePayload(criteria)
      // In the turn of the reply, so that a match right behind it finds its search.
      const search = await new Promise<Search>((resolve, reject) => {
        calls.start({ method: 'matchmaker.add', payload, call }, (outcome) => {
          if ('error' in outcome) return reject(outcome.error)
          try {
            const { ticket_id } = readJson(outcome.payload) as { ticket_id: string }
            resolve(begin(ticket_id, signal))
          } catch (error) {
            reject(error)
          }
        })
      })
      if (signal === undefined) return search
      const abort = () => {
        search.cancel().catch(() => {})
        end(search.ticketId)?.reject(abortedBy(signal))
      }
      if (signal.aborted) {
        abort()
        throw abortedBy(signal)
      }
      signal.addEventListener('abort', abort, { once: true })
      const stop = () => signal.removeEventListener('abort', abort)
      search.room.then(stop, stop)
      return search
    },
    opened: lookAtAll,
    pushed(push) {
      if (push.type === 'matchmaker.removed') remove(push.ticket_id, push.reason)
    },
    closed(error) {
      cancelPoll()
      for (const ticketId of [...pending.keys()]) end(ticketId)?.reject(error)
    },
    handlers: { [kinds.MATCHMAKER_MATCHED.first]: matched },
  }
}
