import { scriptApi } from '@guildhall/contract'
import { readJson } from '../../kernel/json/json-reader.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { ScriptCaller } from '../../kernel/play/script.ts'
import { checkedArguments } from '../functions/arguments.ts'
import type { ScriptMetrics } from '../metrics.ts'
import type { ScriptPorts } from '../ports.ts'
import type { CommandRecord, OutputVisitor } from '../wire/output-records.ts'

type CommandDeps = {
  ports: Pick<ScriptPorts, 'delivery' | 'functions' | 'states'>
  metrics: Pick<ScriptMetrics, 'commands'>
  log: Log
  /** Whom a call of the worker runs for. */
  callerOf(call: number, room_id: number | null): ScriptCaller
  /** Whether what it says of the states of rooms counts: else another script has them. */
  hasStates(): boolean
}

type Commands = Pick<OutputVisitor, 'broadcast' | 'send' | 'command' | 'state' | 'saved'>

/** Carries the commands of a script to the rest of the node. One that fails stops no other. */
export function createCommands(deps: CommandDeps): Commands {
  const { ports, metrics, log, callerOf, hasStates } = deps

  function deliver(work: () => void): void {
    metrics.commands += 1
    try {
      work()
    } catch (error) {
      log.error('a command of the script could not be delivered', { error })
    }
  }

  function run({ name, text, call, room_id }: CommandRecord): void {
    const { args, made } = parseCommand(text)
    const checked = checkedArguments(name, scriptApi[name], args)
    ports.functions[name]?.(callerOf(call, room_id), checked, made)
  }

  return {
    broadcast: (command) => deliver(() => ports.delivery.broadcast(command)),
    send: (command) => deliver(() => ports.delivery.send(command)),
    command: (command) => deliver(() => run(command)),
    state(message) {
      if (hasStates()) ports.states.deliverState(message)
    },
    saved(state) {
      if (hasStates()) ports.states.saveState(state)
    },
  }
}

/** What the worker wrote; `checkedArguments` looks at the arguments. */
function parseCommand(text: string): { args: readonly unknown[]; made: unknown } {
  const { value } = readJson(text)
  const given = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  return { args: Array.isArray(given.args) ? given.args : [], made: given.made }
}
