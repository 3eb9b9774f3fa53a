import type { MatchmakerRemoved, Party, PartyPush } from '@guildhall/contract/wire'
import { GuildhallError } from '../error.ts'
import type { Part, Wire } from '../realtime/part.ts'
import type { Calls } from '../realtime/sending/calls.ts'
import type { PartyCalls } from './party-types.ts'

/** The names of the methods on the wire. */
const methods = {
  create: 'party.create',
  update: 'party.update',
  invite: 'party.invite',
  accept: 'party.accept',
  decline: 'party.decline',
  join: 'party.join',
  acceptRequest: 'party.accept_request',
  refuseRequest: 'party.refuse_request',
  leave: 'party.leave',
  promote: 'party.promote',
  remove: 'party.remove',
  send: 'party.send',
  close: 'party.close',
  status: 'party.status',
} as const satisfies Record<Exclude<keyof PartyCalls, 'current'>, string>

export type PartyPart = Part & { readonly calls: PartyCalls }

/** The player's party: calls, the last state, and the events of kind 27. */
export function createParty(wire: Wire, calls: Calls): PartyPart {
  let current: Party | null = null
  /** Whether the game has to do with parties at all; others should cost nothing. */
  let isUsed = false
  let isReading = false
  let mustReadAgain = false

  async function call(name: keyof typeof methods, payload: unknown = {}): Promise<unknown> {
    isUsed = true
    const reply = await calls.rpc(methods[name], payload)
    if (isParty(reply)) current = reply
    else if (name === 'leave' || name === 'close') current = null
    return reply
  }

  /** One at a time; what happens meanwhile is read behind it. */
  async function read(): Promise<void> {
    if (isReading) {
      mustReadAgain = true
      return
    }
    isReading = true
    try {
      await call('status')
    } catch (error) {
      if (error instanceof GuildhallError && error.code === 'rpc_refused') current = null
    }
    isReading = false
    if (!mustReadAgain) return
    mustReadAgain = false
    await read()
  }

  function pushed(push: PartyPush, bytes: number): void {
    isUsed = true
    if (push.type === 'party.closed') {
      if (current?.party_id === push.party_id) current = null
    } else if (push.type !== 'party.message') {
      void read()
    }
    wire.push('party', push, bytes)
  }

  const names = Object.keys(methods) as (keyof typeof methods)[]
  const bound = names.map((name) => [name, (payload?: unknown) => call(name, payload)])
  return {
    // Each function was made from the row of its name; only the type knows what it answers.
    calls: Object.defineProperty(Object.fromEntries(bound), 'current', {
      get: () => current,
    }) as PartyCalls,
    opened() {
      if (isUsed) void read()
    },
    closed() {
      current = null
    },
    pushed(push, bytes) {
      if (isOfParty(push)) pushed(push, bytes)
    },
  }
}

function isOfParty(push: PartyPush | MatchmakerRemoved): push is PartyPush {
  return typeof push.type === 'string' && push.type.startsWith('party.')
}

function isParty(reply: unknown): reply is Party {
  return typeof reply === 'object' && reply !== null && 'members' in reply
}
