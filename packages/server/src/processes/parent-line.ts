import type { Certificate } from '../node/certificates.ts'
import type { Begin, FromProcess, ReadyFacts, ToProcess } from './messages.ts'

/** Set for the processes of one command, to the number of each. */
export const numberVariable = 'GUILDHALL_PROCESS'

/** The line of a process to the one that started it, beside others of one command. */
export type ParentLine = {
  begin: Begin
  /** The one that all processes have where none is configured. */
  certificate: Certificate | undefined
  ready(facts: ReadyFacts): void
  /** Calls `take` with each signal that the parent passes on. */
  onSignal(take: (signal: NodeJS.Signals) => void): void
  /** Calls `take` when the parent has gone. */
  onLeft(take: () => void): void
}

/** Undefined for a process that was started alone. */
export async function joinParent(host: NodeJS.Process): Promise<ParentLine | undefined> {
  if (host.env[numberVariable] === undefined || host.send === undefined) return undefined
  const begun = Promise.withResolvers<Begin>()
  const signals: NodeJS.Signals[] = []
  let takeSignal = (signal: NodeJS.Signals): void => void signals.push(signal)
  let renew = (_: Begin['certificate']) => {}
  host.on('message', (message: ToProcess) => {
    if ('begin' in message) begun.resolve(message.begin)
    else if ('signal' in message) takeSignal(message.signal)
    else renew(message.certificate)
  })
  const begin = await begun.promise
  const { certificate } = begin
  return {
    begin,
    certificate:
      certificate &&
      follow(certificate, (take) => {
        renew = (pair) => pair && take(pair)
      }),
    ready(facts) {
      // Whether the parent is still there is the concern of `onLeft`.
      host.send?.({ ready: facts } satisfies FromProcess, undefined, undefined, () => {})
    },
    onSignal(take) {
      takeSignal = take
      for (const signal of signals) take(signal)
    },
    onLeft(take) {
      if (host.connected) host.once('disconnect', take)
      else take()
    },
  }
}

type Pair = NonNullable<Begin['certificate']>

function follow(first: Pair, subscribe: (take: (pair: Pair) => void) => void): Certificate {
  let current = first
  const listeners: ((pair: Pair) => void)[] = []
  subscribe((pair) => {
    current = pair
    for (const listener of listeners) listener(pair)
  })
  return {
    current: () => current,
    reload: async () => {},
    onChange: (apply) => void listeners.push(apply),
  }
}
