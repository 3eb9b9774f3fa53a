import {
  type ScriptFunction,
  type ScriptNames,
  type ScriptTier,
  scriptApi,
} from '@guildhall/contract'
import { GuildhallError } from '../errors.ts'
import { createAllowBinding } from './allowing.ts'
import type { BindingHost } from './binding-host.ts'
import { createCommandBinding } from './commands.ts'
import { createEncodingBindings } from './encoding.ts'
import { createFailingBindings } from './failing.ts'
import { createHookBindings } from './hooks.ts'
import { createHostCallBinding } from './host-calls.ts'
import { jsonBindings } from './json.ts'
import { type CommandAnswer, createLineAnswers } from './lines.ts'
import { createMessagingBindings } from './messaging.ts'
import { createTimerBindings } from './timers.ts'
import { createTracingBindings } from './tracing.ts'

/** What the script reads about itself and its node. The revision is known once it has loaded. */
export type Identity = {
  node_id: string
  tier: ScriptTier
  generation: number
  revision_id: () => string
}

type Fn = (...args: unknown[]) => unknown

/** Builds the object that scripts know as `guildhall`. It cannot be changed. */
export function createGuildhall(host: BindingHost, identity: Identity): object {
  const own = ownFunctions(host)
  const answers: CommandAnswers = createLineAnswers({ ...host, generation: identity.generation })
  const api: Record<string, unknown> = {
    node_id: identity.node_id,
    tier: identity.tier,
    generation: identity.generation,
  }
  Object.defineProperty(api, 'revision_id', { enumerable: true, get: identity.revision_id })
  for (const { name, fn, planned } of createHookBindings(host.registry)) {
    if (planned) refuse(api, name, name)
    else api[name] = Object.freeze(fn)
  }
  for (const [name, row] of Object.entries<ScriptFunction>(scriptApi)) {
    const [space, member] = placeOf(api, name)
    if (row.planned) refuse(space, member, name)
    else
      space[member] = Object.freeze(
        bindingOf(name, row, { host, own, answers, tier: identity.tier }),
      )
  }
  for (const part of Object.values(api)) Object.freeze(part)
  return Object.freeze(api)
}

type OwnFunctions = { readonly [name in ScriptNames<typeof scriptApi, 'worker'>]: Fn }

/** What is done beside the script; a row of the table without its function does not compile. */
function ownFunctions(host: BindingHost): OwnFunctions {
  return {
    ...createMessagingBindings(host),
    ...createTimerBindings(host),
    ...createAllowBinding(host.clock),
    ...jsonBindings,
    ...createEncodingBindings(),
    ...createFailingBindings(host),
    ...createTracingBindings(host),
  }
}

/** What commands with an answer return; a row of the table without its answer does not compile. */
type CommandAnswers = {
  readonly [name in AnsweringCommands]: CommandAnswer
}
type AnsweringCommands = {
  [name in ScriptNames<typeof scriptApi, 'command'>]: (typeof scriptApi)[name] extends {
    ok: object
  }
    ? name
    : never
}[ScriptNames<typeof scriptApi, 'command'>]

type Making = {
  host: BindingHost
  own: Readonly<Record<string, Fn>>
  answers: Readonly<Record<string, CommandAnswer>>
  tier: ScriptTier
}

function bindingOf(name: string, row: ScriptFunction, { host, own, answers, tier }: Making): Fn {
  if (row.tier === 'trusted' && tier !== 'trusted') return forbidden(name, row)
  switch (row.runs) {
    case 'node':
      return createHostCallBinding(host, name, row)
    case 'command':
      return createCommandBinding(host, name, { row, answer: answers[name] })
    case 'worker':
      return own[name] ?? forbidden(name, row)
  }
}

function forbidden(name: string, { runs }: ScriptFunction): Fn {
  const error = () => new GuildhallError('forbidden', `${name} is not for sandboxed scripts`)
  if (runs === 'node') return () => Promise.reject(error())
  return () => {
    throw error()
  }
}

/** Makes a mere mention of a missing name an error, at the top level a failed load. */
function refuse(space: object, member: string, name: string): void {
  Object.defineProperty(space, member, {
    enumerable: false,
    get() {
      throw new GuildhallError('unavailable', `guildhall.${name} is not part of this version`)
    },
  })
}

/** The object that holds a function, such as `guildhall.wallet`, and its name in there. */
function placeOf(api: Record<string, unknown>, name: string): [Record<string, unknown>, string] {
  const [space = '', member] = name.split('.')
  if (member === undefined) return [api, space]
  const known = api[space]
  if (isSpace(known)) return [known, member]
  const made: Record<string, unknown> = {}
  api[space] = made
  return [made, member]
}

function isSpace(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
