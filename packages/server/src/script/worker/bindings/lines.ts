import type { Clock } from '../../../kernel/clock.ts'
import { createDurableTexts } from '../../../kernel/ids.ts'
import type { LineSettings } from '../../wire/protocol.ts'
import { type Plain, toJson } from '../arguments.ts'
import { invalidArgument } from '../errors.ts'
import type { Invocation } from '../invocation.ts'

/** What a command returns at once; it checks what the table cannot say. */
export type CommandAnswer = (invocation: Invocation, args: readonly Plain[]) => unknown

type Deps = { clock: Pick<Clock, 'nowUnixMs'>; lines: LineSettings; generation: number }

const resultBytesMax = 4096
const levels = /^(trace|debug|info|warn|error)$/i
const idsMax = 65_535

/** `log.write` and `match.set_result`: what they return is known before the node has heard. */
export function createLineAnswers({ clock, lines, generation }: Deps) {
  const counter = ((generation - 1) % idsMax) + 1
  const newId = createDurableTexts(clock, lines.idSalt, counter)
  return {
    'log.write'(_invocation: Invocation, [level, , , payload]: readonly Plain[]): string | null {
      if (typeof level !== 'string' || !levels.test(level)) {
        throw invalidArgument('log level must be one of trace, debug, info, warn, error')
      }
      if (payload !== undefined && payload !== null) {
        checkJson('log.write: payload', payload, { bytesMax: lines.payloadBytesMax, lists: true })
      }
      return lines.durable ? `ml1-${newId()}` : null
    },
    'match.set_result'({ call }: Invocation, [result]: readonly Plain[]): boolean {
      if (call?.room_id === null || call === undefined) {
        throw invalidArgument('match results require a match-scoped context')
      }
      checkJson('match.set_result: result', result, { bytesMax: resultBytesMax, lists: false })
      return lines.durable
    },
  }
}

/** A JSON object, where `lists` allows it also an array; or the text of one. */
function checkJson(
  name: string,
  value: Plain,
  { bytesMax, lists }: { bytesMax: number; lists: boolean },
): void {
  const text = typeof value === 'string' ? value : (toJson(value) ?? '')
  if (Buffer.byteLength(text) > bytesMax) {
    throw invalidArgument(`${name} must be at most ${bytesMax} bytes as JSON`)
  }
  const parsed = parsedJson(text)
  const isContainer =
    typeof parsed === 'object' && parsed !== null && !(value instanceof Uint8Array)
  if (isContainer && (lists || !Array.isArray(parsed))) return
  throw invalidArgument(`${name} must be a JSON object${lists ? ' or array' : ''}, or its text`)
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
