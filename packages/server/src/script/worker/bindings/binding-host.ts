import type { Clock } from '../../../kernel/clock.ts'
import { limits } from '../../wire/limits.ts'
import type { HostResult, LineSettings, PrintLevel } from '../../wire/protocol.ts'
import { GuildhallError } from '../errors.ts'
import type { StoppableCall } from '../host-calls.ts'
import type { Invocation } from '../invocation.ts'
import type { Body, Output } from '../output.ts'
import type { Registry } from '../registry.ts'
import type { Timers } from '../timers.ts'

/** What the functions of `guildhall` are built on. A binding is one group of them. */
export type BindingHost = {
  readonly clock: Pick<Clock, 'nowUnixMs' | 'monotonicMs'>
  readonly registry: Registry
  readonly lines: LineSettings
  readonly timers: Timers
  readonly runner: {
    readonly invocation: Invocation
    readonly timerOutput: Output
    outputOf(invocation: Invocation): Output
    wantTurnEnd(): void
  }
  /** Calls a function of the node. */
  ask(name: string, args: readonly unknown[]): Promise<HostResult>
  readonly stoppable: StoppableCall
  print(level: PrintLevel, text: string): void
}

/** The invocation that calls. Raises `timeout` if it was given up. */
export function callerOf({ runner }: BindingHost): Invocation {
  const { invocation } = runner
  if (invocation.gaveUp) {
    throw new GuildhallError('timeout', 'the call took too long and has been given up')
  }
  return invocation
}

export function countCommand(invocation: Invocation): void {
  if (invocation.commands >= limits.commandsPerInvocation) {
    throw new GuildhallError('limit_exceeded', `more than ${limits.commandsPerInvocation} commands`)
  }
  invocation.commands += 1
}

export function countBody(invocation: Invocation, bytes: number): void {
  if (bytes > limits.bodyBytes) throw bodyTooLarge()
  if (invocation.bodyBytes + bytes > limits.bodyBytesPerInvocation) {
    throw new GuildhallError('limit_exceeded', 'more than 1 MiB of message bodies in one call')
  }
  invocation.bodyBytes += bytes
}

/** Counts the arguments of a command with the message bodies. */
export function countPayload(invocation: Invocation, text: string): void {
  if (invocation.bodyBytes + text.length > limits.bodyBytesPerInvocation) {
    throw new GuildhallError('limit_exceeded', 'more than 1 MiB of commands in one call')
  }
  invocation.bodyBytes += text.length
}

/** Places a body in the output, if it is one and the limits allow it. */
export function placeBody(invocation: Invocation, output: Output, body: Body): number {
  if (body.length > limits.bodyBytes) throw bodyTooLarge()
  const length = output.place(body)
  countBody(invocation, length)
  return length
}

function bodyTooLarge(): GuildhallError {
  return new GuildhallError('limit_exceeded', 'a message body may hold at most 64 KiB')
}
