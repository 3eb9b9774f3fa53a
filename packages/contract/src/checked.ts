/**
 * For scripts: handlers that get what clients sent after a validator has looked at it. It is the
 * twin of `GameTypes` at run time. Any validator serves that speaks Standard Schema, such as Zod,
 * Valibot or ArkType; nothing of it is needed here.
 */

/** What is used of a Standard Schema (version 1). */
export type Schema<Output = unknown> = {
  readonly '~standard': {
    readonly validate: (value: unknown) => Checked<Output> | Promise<Checked<Output>>
    readonly types?: { readonly output: Output } | undefined
  }
}

type Checked<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] }

type Issue = {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

type OutputOf<S> = S extends Schema<infer Output> ? Output : never

/** What clients may send: the payload of each method, and the body of each kind. */
export type Shapes = {
  readonly rpcs?: { readonly [method: string]: Schema }
  readonly kinds?: { readonly [kind: number]: Schema }
}

/** What is used of `guildhall`. */
type Host = {
  on_rpc(method: never, fn: never): void
  on_message(kind: never, fn: never): void
  fail(text: string, options?: { code?: string; data?: never }): never
  json: { decode(body: never): unknown }
}

type ContextIn<Register extends (name: never, fn: never) => void> =
  Parameters<Register>[1] extends (ctx: infer Context, ...more: infer _More) => unknown
    ? Context
    : never

type Listed<Part> = Part extends object ? Part : Record<never, never>

/** `on_rpc` and `on_message`, whose handlers get values that were checked. */
export type CheckedGame<H extends Host, S extends Shapes> = {
  on_rpc<M extends keyof Listed<S['rpcs']> & string>(
    method: M,
    fn: (ctx: ContextIn<H['on_rpc']>, payload: OutputOf<Listed<S['rpcs']>[M]>) => unknown,
  ): void
  on_message<K extends keyof Listed<S['kinds']> & number>(
    kind: K,
    fn: (ctx: ContextIn<H['on_message']>, body: OutputOf<Listed<S['kinds']>[K]>) => unknown,
  ): void
}

type Handler = (ctx: unknown, value: unknown) => unknown

/** As it is called: the types above say what may be. */
type Calls = {
  on_rpc(method: string, fn: Handler): void
  on_message(kind: number, fn: Handler): void
  fail(text: string, options: { code: string; data: unknown }): never
  json: { decode(body: unknown): unknown }
}

const issuesMax = 8
const textMax = 160

/**
 * @example
 * import { checked } from '@guildhall/contract/checked'
 * import * as z from 'zod'
 *
 * const game = checked(guildhall, {
 *   rpcs: { buy: z.object({ item: z.string() }) },
 *   kinds: { 100: z.object({ dx: z.number(), dy: z.number() }) },
 * })
 * game.on_rpc('buy', (ctx, { item }) => ({ bought: item }))
 * game.on_message(100, (ctx, { dx, dy }) => move(ctx.sender, dx, dy))
 *
 * A payload is JSON; none at all is `undefined`. A call whose payload is refused fails with code
 * `invalid_payload` and `{issues: [{path, message}]}`; a message is dropped.
 */
export function checked<H extends Host, const S extends Shapes>(
  host: H,
  { rpcs = {}, kinds = {} }: S,
): CheckedGame<H, S> {
  const calls = host as unknown as Calls

  function refuse(name: string, issues: readonly Issue[]): never {
    const data = { issues: issues.slice(0, issuesMax).map(shown) }
    return calls.fail(`what was sent to ${name} is not valid`, { code: 'invalid_payload', data })
  }

  function decode(name: string, body: unknown): unknown {
    if ((body as Uint8Array).length === 0) return undefined
    try {
      return calls.json.decode(body)
    } catch {
      return refuse(name, [{ message: 'no JSON' }])
    }
  }

  function guarded(name: string, schema: Schema | undefined, fn: Handler): Handler {
    if (schema === undefined) throw new Error(`no shape is given for ${name}`)
    const { validate } = schema['~standard']
    const taken = (result: Checked<unknown>) =>
      result.issues === undefined ? result.value : refuse(name, result.issues)
    return (ctx, body) => {
      const result = validate(decode(name, body))
      if (!(result instanceof Promise)) return fn(ctx, taken(result))
      return result.then((done) => fn(ctx, taken(done)))
    }
  }

  const game = {
    on_rpc(method: string, fn: Handler): void {
      calls.on_rpc(method, guarded(method, rpcs[method], fn))
    },
    on_message(kind: number, fn: Handler): void {
      calls.on_message(kind, guarded(`kind ${kind}`, kinds[kind], fn))
    },
  }
  return game as CheckedGame<H, S>
}

function shown({ path = [], message }: Issue): { path: string; message: string } {
  const keys = path.map((step) => String(typeof step === 'object' ? step.key : step))
  return { path: keys.join('.').slice(0, textMax), message: message.slice(0, textMax) }
}
