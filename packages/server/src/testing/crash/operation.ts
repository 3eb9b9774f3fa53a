import type { Queries } from '../../database/database.ts'
import type { ApiAnswer, Caller } from '../api.ts'

/**
 * One change that the load asks for. Its facts are what the answer says of it; when the answer was
 * lost with the process, they are what the store says of it after the restart.
 */
export type Operation<F = unknown> = {
  readonly request: OperationRequest
  /** The facts of a success; undefined for a refusal that may be. Throws when it may not be. */
  heard(answer: ApiAnswer): F | undefined
  /** The facts that the store holds; undefined when nothing of the change is there. */
  found(): F | undefined
  /** The change is done: from now on the model has it. */
  apply(facts: F): void
  /** Comes last, whatever became of it. */
  release?(): void
}

export type OperationRequest = {
  method: string
  /**
   * An operator's mutation when it begins with `/console`; of the method RPC, the script's own; of
   * the method ROOM, the room to go to, or none.
   */
  path: string
  body?: unknown
  /** A player's; operators' requests get that of the operator. */
  token?: string
  /** The answer shows a secret: a repeat of what was done is refused. */
  answerHoldsSecret?: boolean
}

/** One part of the product under load: what is done to it, and what must hold of it ever after. */
export type Section = {
  /** How often it is chosen, in comparison with the others. */
  readonly weight: number
  /** Something to do; undefined when there is nothing right now. */
  next(): Operation | undefined
  /** Takes over what the store holds of this part, in one committed state of all parts. */
  read(state: Queries): Promise<void>
  /** Throws when what was read is not what the model says. */
  check(): void
  /** Throws when a node does not answer as the model says; `token` is the operator's. */
  probe?(call: Caller, token: string): Promise<void>
}

/** Lets the types of the facts be inferred. */
export function operation<F>(declared: Operation<F>): Operation {
  return declared
}

/** Whether an answer is the success; throws when it is neither that nor one of the refusals. */
export function succeeded(
  { status, text }: ApiAnswer,
  success: number,
  refusals: readonly number[] = [],
): boolean {
  if (status === success) return true
  if (refusals.includes(status)) return false
  throw new Error(`was answered ${status}: ${text}`)
}

/** Throws when a fact does not hold. */
export function expectThat(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}

/** Throws when two values are not the same JSON. */
export function expectSame(actual: unknown, expected: unknown, what: string): void {
  const [is, should] = [actual, expected].map(render)
  if (is !== should) throw new Error(`${what}: is ${is}, should be ${should}`)
}

function render(value: unknown): string {
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part))
}
