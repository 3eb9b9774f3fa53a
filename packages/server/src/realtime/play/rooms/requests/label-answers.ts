import { type JsonObject, roomTextBytesMax, stringifyExact } from '@guildhall/contract'
import type { AnsweringHook, HookAnswer, RoomHooks } from '../../../../kernel/play/room-hooks.ts'
import type { Label } from '../../../../kernel/play/rooms.ts'

const propertiesBytesMax = 1024
const propertiesLevelsMax = 16
const playersMax = 65_535

/** The label of a room whose script says nothing about it. */
export function defaultLabel(map: string): Label {
  return {
    map,
    mode: '',
    max_players: 0,
    open: true,
    tick: true,
    listed: false,
    properties: {},
  }
}

export type Verdict<Value> =
  | { verdict: 'yes'; value: Value }
  | Refused
  /** `problem` says what is wrong with the answer; without it the handler itself has failed. */
  | { verdict: 'failed'; problem?: string }

/** With the script's own text, or null when it has none. */
type Refused = { verdict: 'refused'; text: string | null }

const failed = { verdict: 'failed' } as const
const noAnswer = (problem: string) => ({ verdict: 'failed', problem }) as const

/** Reports what is wrong with an answer; that a handler failed is reported already. */
export function noteProblem(
  hooks: Pick<RoomHooks, 'misanswered'>,
  hook: AnsweringHook,
  said: Verdict<unknown>,
): void {
  if (said.verdict !== 'failed' || said.problem === undefined) return
  hooks.misanswered(hook, said.problem)
}

/** What `on_room_create` said; members that it leaves out are those of `base`. */
export function labelFrom(answer: HookAnswer, base: Label): Verdict<Label> {
  if (answer.status === 'absent') return { verdict: 'yes', value: base }
  if (answer.status === 'failed') return failed
  const { value } = answer
  if (value === undefined || value === null) return { verdict: 'yes', value: base }
  if (value === false) return { verdict: 'refused', text: null }
  if (typeof value === 'string') {
    if (isRoomText(value)) return { verdict: 'yes', value: { ...base, map: value } }
    return noAnswer('the map that it returned is too long, or has control characters')
  }
  if (!isObject(value)) return noAnswer('it returned neither a label, a map, a refusal nor nothing')
  if (Object.hasOwn(value, 'refuse')) return refusalFrom(value)
  const wrong = Object.entries(value).find(([name, member]) => {
    const check = memberChecks.get(name)
    return check === undefined || (member !== undefined && !check(member))
  })
  if (wrong === undefined) return { verdict: 'yes', value: { ...base, ...value } }
  const [name] = wrong
  if (memberChecks.has(name)) return noAnswer(`${name} of the label that it returned is not valid`)
  const members = [...memberChecks.keys()].join(', ')
  return noAnswer(`it returned a label with ${name}, and there are ${members}`)
}

/** The label of a room whose state was made; such a room has no refusal. */
export function stateLabel(answer: HookAnswer, base: Label): Exclude<Verdict<Label>, Refused> {
  if (answer.status !== 'answered' || !isObject(answer.value)) return failed
  const { label = null }: { label?: unknown } = answer.value
  const said = labelFrom({ status: 'answered', value: label }, base)
  if (said.verdict === 'failed') return said
  if (said.verdict === 'refused' || typeof label === 'string') {
    return noAnswer('the label that it returned is no label')
  }
  return { verdict: 'yes', value: { ...said.value, mode: base.mode } }
}

/** What `on_room_join` said. */
export function admissionFrom(answer: HookAnswer): Verdict<true> {
  if (answer.status === 'absent') return { verdict: 'yes', value: true }
  if (answer.status === 'failed') return failed
  const { value } = answer
  if (value === true) return { verdict: 'yes', value }
  if (value === false || value === null || value === undefined) {
    return { verdict: 'refused', text: null }
  }
  if (typeof value === 'string' && isReason(value)) return { verdict: 'refused', text: value }
  return noAnswer('it returned neither a boolean nor a text of 1 to 128 bytes')
}

/** Whether containers are nested at most so deep; it looks no deeper than that. */
export function isWithinLevels(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((part) => isWithinLevels(part, levels - 1))
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a text may be a name: of a room, a topic, a map, a mode. */
export function isRoomText(value: unknown): value is string {
  if (typeof value !== 'string' || Buffer.byteLength(value) > roomTextBytesMax) return false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
  return !/[\u0000-\u001f\u007f]/.test(value)
}

export function refusalFrom(value: JsonObject): Exclude<Verdict<never>, { verdict: 'yes' }> {
  const { refuse, ...rest } = value
  if (Object.keys(rest).length === 0 && typeof refuse === 'string' && isReason(refuse)) {
    return { verdict: 'refused', text: refuse }
  }
  return noAnswer('refuse is no text of 1 to 128 bytes, or has other members beside it')
}

function isReason(text: string): boolean {
  const bytes = Buffer.byteLength(text)
  return bytes >= 1 && bytes <= roomTextBytesMax
}

const isBoolean = (value: unknown) => typeof value === 'boolean'

const memberChecks: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['map', isRoomText],
  ['mode', isRoomText],
  ['max_players', isPlayers],
  ['open', isBoolean],
  ['tick', isBoolean],
  ['listed', isBoolean],
  ['properties', isProperties],
])

function isPlayers(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= playersMax
}

function isProperties(value: unknown): boolean {
  return (
    isObject(value) &&
    isWithinLevels(value, propertiesLevelsMax) &&
    Buffer.byteLength(stringifyExact(value)) <= propertiesBytesMax
  )
}
