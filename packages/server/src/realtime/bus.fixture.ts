import type { Envelope, RpcRequest } from '@guildhall/contract'
import { atEndOfTurn } from '../kernel/clock.ts'
import type { RpcOutcome } from '../kernel/play/calls.ts'
import type { OutgoingFrame } from './frames/outgoing-frame.ts'
import type {
  Arrival,
  Claimed,
  MessageOutcome,
  Place,
  PlayerMessage,
  PlayPort,
  Receiver,
  SeatFate,
  UnhandledReason,
} from './play.port.ts'
import type { Player } from './ports.ts'

/** What the edge asks of the owner, as a message. `call` numbers what is answered. */
type Ask =
  | { ask: 'claim'; call: number; account: Player }
  | { ask: 'arrive'; call: number; arrival: Arrival }
  | { ask: 'leave'; participant: number; seat: SeatFate; unsent: OutgoingFrame[] }
  | { ask: 'setFlags'; participant: number; flags: number }
  | { ask: 'request'; participant: number; envelope: Envelope }
  | { ask: 'position'; participant: number; position: Uint8Array }
  | { ask: 'message'; participant: number; message: PlayerMessage }
  | { ask: 'rpc'; participant: number; request: RpcRequest }

/** What the owner reports to the edge, as a message. */
type Report =
  | { report: 'answer'; call: number; value: Claimed | undefined }
  | { report: 'deliver'; to: number; frame: OutgoingFrame; unreliable: boolean }
  | { report: 'positions'; to: number; frames: OutgoingFrame[]; own: number }
  | { report: 'placed'; to: number; place: Place }
  | { report: 'settled'; to: number; kind: number; outcome: MessageOutcome }
  | { report: 'unhandled'; to: number; kind: number; reason: UnhandledReason }
  | { report: 'replied'; to: number; requestId: bigint; outcome: RpcOutcome }

/** One direction: messages are copied, and arrive in order at the end of the turn. */
type Channel<Message> = { send(message: Message): void; readonly isIdle: boolean }

function createChannel<Message>(receive: (message: Message) => void): Channel<Message> {
  let waiting: Message[] = []
  return {
    get isIdle() {
      return waiting.length === 0
    },
    send(message) {
      waiting.push(structuredClone(message))
      if (waiting.length > 1) return
      atEndOfTurn(() => {
        const arrived = waiting
        waiting = []
        for (const each of arrived) receive(each)
      })
    },
  }
}

export type Bus = {
  /** The owner, as the edge at the other end of the bus reaches it. */
  readonly port: PlayPort
  /** Resolves when no message is under way. */
  idle(): Promise<void>
}

/**
 * The second implementation of the door: the owner is another gateway, and nothing but copies of
 * messages goes between the two. The script's state is the exception, which is read where it is.
 */
export function connectBus(owner: PlayPort): Bus {
  const receivers = new Map<number, Receiver>()
  const calls = new Map<number, (value: Claimed | undefined) => void>()
  let called = 0
  const reports = createChannel<Report>((report) => {
    if (report.report === 'answer') {
      calls.get(report.call)?.(report.value)
      calls.delete(report.call)
    } else {
      receive(receivers.get(report.to), report)
    }
  })
  const asks = createChannel<Ask>((ask) => serve(owner, ask, reports.send))

  function call(ask: (call: number) => Ask): Promise<Claimed | undefined> {
    called += 1
    const { promise, resolve } = Promise.withResolvers<Claimed | undefined>()
    calls.set(called, resolve)
    asks.send(ask(called))
    return promise
  }

  return {
    port: {
      claim: (account, asked) =>
        asked ?? call((number) => ({ ask: 'claim', call: number, account })),
      async arrive(arrival, receiver) {
        receivers.set(arrival.participant, receiver)
        await call((number) => ({ ask: 'arrive', call: number, arrival }))
      },
      leave(participant, seat, unsent) {
        receivers.delete(participant)
        asks.send({ ask: 'leave', participant, seat, unsent: unsent.map(copied) })
      },
      setFlags: (participant, flags) => asks.send({ ask: 'setFlags', participant, flags }),
      request: (participant, envelope) => asks.send({ ask: 'request', participant, envelope }),
      position: (participant, position) => asks.send({ ask: 'position', participant, position }),
      message: (participant, message) => asks.send({ ask: 'message', participant, message }),
      rpc: (participant, request) => asks.send({ ask: 'rpc', participant, request }),
      script: owner.script,
    },
    async idle() {
      do await new Promise<void>(atEndOfTurn)
      while (!asks.isIdle || !reports.isIdle || calls.size > 0)
    },
  }
}

/** At the owner. */
function serve(owner: PlayPort, ask: Ask, report: (report: Report) => void): void {
  switch (ask.ask) {
    case 'claim': {
      const answer = (value?: Claimed) => report({ report: 'answer', call: ask.call, value })
      void Promise.resolve(owner.claim(ask.account)).then(answer, () => answer())
      break
    }
    case 'arrive': {
      const receiver = reporting(ask.arrival.participant, report)
      const answer = () => report({ report: 'answer', call: ask.call, value: undefined })
      void Promise.resolve(owner.arrive(ask.arrival, receiver)).then(answer, answer)
      break
    }
    case 'leave':
      owner.leave(ask.participant, ask.seat, ask.unsent)
      break
    case 'setFlags':
      owner.setFlags(ask.participant, ask.flags)
      break
    case 'request':
      owner.request(ask.participant, ask.envelope)
      break
    case 'position':
      owner.position(ask.participant, ask.position)
      break
    case 'message':
      owner.message(ask.participant, ask.message)
      break
    case 'rpc':
      owner.rpc(ask.participant, ask.request)
      break
  }
}

/** A member of the owner's rooms whose connection is at the other end. */
function reporting(to: number, report: (report: Report) => void): Receiver {
  return {
    deliver: (frame, unreliable) =>
      report({ report: 'deliver', to, frame: copied(frame), unreliable }),
    deliverPositions: (frames, own) =>
      report({ report: 'positions', to, frames: frames.map(copied), own }),
    placed: (place) => report({ report: 'placed', to, place }),
    settled: (kind, outcome) => report({ report: 'settled', to, kind, outcome }),
    unhandled: (kind, reason) => report({ report: 'unhandled', to, kind, reason }),
    replied: (requestId, outcome) => report({ report: 'replied', to, requestId, outcome }),
  }
}

/** At the edge; a connection that is gone receives nothing. */
function receive(
  receiver: Receiver | undefined,
  report: Exclude<Report, { report: 'answer' }>,
): void {
  switch (report.report) {
    case 'deliver':
      receiver?.deliver(report.frame, report.unreliable)
      break
    case 'positions':
      receiver?.deliverPositions(report.frames, report.own)
      break
    case 'placed':
      receiver?.placed(report.place)
      break
    case 'settled':
      receiver?.settled(report.kind, report.outcome)
      break
    case 'unhandled':
      receiver?.unhandled(report.kind, report.reason)
      break
    case 'replied':
      receiver?.replied(report.requestId, report.outcome)
      break
  }
}

/** The bytes of the frame alone, without the pool that they may be a part of. */
function copied({ bytes, mergeKey }: OutgoingFrame): OutgoingFrame {
  return { bytes: bytes.slice(), mergeKey, message: undefined }
}
