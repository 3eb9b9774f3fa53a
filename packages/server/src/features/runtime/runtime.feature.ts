import { once, RpcAnswer, type RuntimeView, type ScriptFailures } from '@guildhall/contract'
import { z } from 'zod'
import type { Transaction } from '../../database/database.ts'
import type { HumanPrincipal } from '../../kernel/auth/principal.ts'
import type { OtherNodes } from '../../kernel/cluster/other-nodes.ts'
import { Failure, refuse } from '../../kernel/failure.ts'
import type { Mutate, Mutation } from '../../kernel/mutation.ts'
import type { RoomCommands } from '../../kernel/play/room-commands.ts'
import { defineFeature, mount } from '../feature.ts'

export type RuntimeDeps = {
  mutate: Mutate<Transaction>
  /** RPCs that operators call and no script serves, by method. */
  builtIns: Readonly<Record<string, ConsoleRpc>>
  rooms: Pick<RoomCommands, 'room'>
  nodes: Pick<OtherNodes, 'serve' | 'askOwner'>
  script: {
    describe(): RuntimeView
    failures(): ScriptFailures
    /**
     * Calls an RPC of the script with nobody as its caller.
     *
     * @throws Failure `runtime_unavailable` while the gate is closed
     */
    consoleRpc(method: string, payload: string, operator?: HumanPrincipal): Promise<RpcAnswer>
  }
}

type ConsoleRpc = (mutation: Mutation, payload: string) => Promise<RpcAnswer>

const aboutRpc = 'console rpc'
/** Longest wait for a handler of another node, in milliseconds. */
const ownerMs = 30_000

/** What the owner of a room is asked to call. */
const RoomCall = once(() =>
  z.object({
    room_id: z.number().int().min(0),
    method: z.string(),
    payload: z.string(),
    operator: z.object({ username: z.string(), role: z.enum(['admin', 'viewer']) }).optional(),
  }),
)
type RoomCall = z.output<ReturnType<typeof RoomCall>>
const OwnerAnswer = once(() =>
  z.union([z.object({ is: z.literal('closed') }), z.object({ is: RpcAnswer() })]),
)

/** The game's script, as operators see and call it. */
export function runtimeFeature({ mutate, script, builtIns, rooms, nodes }: RuntimeDeps) {
  function call(mutation: Mutation, method: string, payload: string): Promise<RpcAnswer> {
    const builtIn = Object.hasOwn(builtIns, method) ? builtIns[method] : undefined
    if (builtIn !== undefined) return builtIn(mutation, payload)
    return script.consoleRpc(method, payload, humanOf(mutation))
  }

  /** Calls it on the node that has a room, which may be this one. */
  async function callOwner(mutation: Mutation, room_id: number, { method, payload }: Asked) {
    if ((await rooms.room(room_id)) !== undefined) return call(mutation, method, payload)
    const asked: RoomCall = { room_id, method, payload, operator: humanOf(mutation) }
    const answer = await nodes.askOwner(room_id, aboutRpc, asked, ownerMs)
    if (answer === 'silent') throw refuse.runtimeUnavailable('the node of the room is silent')
    const read = OwnerAnswer().safeParse(answer?.value).data
    if (read === undefined) throw refuse.notFound('no such room')
    if (read.is === 'closed') throw refuse.runtimeUnavailable('the script there is not ready')
    return read.is
  }

  nodes.serve(aboutRpc, async (question) => {
    const asked = RoomCall().safeParse(question).data
    if (asked === undefined || (await rooms.room(asked.room_id)) === undefined) return undefined
    const { method, payload, operator } = asked
    const human = operator && ({ kind: 'human', ...operator } as const)
    try {
      return { is: await script.consoleRpc(method, payload, human) }
    } catch (error) {
      if (error instanceof Failure && error.code === 'runtime_unavailable') return { is: 'closed' }
      throw error
    }
  })

  /** The call is over when its entry is written, because nobody could undo it. */
  async function rpc(mutation: Mutation, room_id: number | undefined, asked: Asked) {
    const answer =
      room_id === undefined
        ? await call(mutation, asked.method, asked.payload)
        : await callOwner(mutation, room_id, asked)
    const entry = { target: `rpc ${asked.method}`, details: `ok=${answer.ok}` }
    return mutate(mutation, async () => ({ answer, ...entry }), { isolation: 'read committed' })
  }

  return defineFeature({
    routes: mount({
      runtime: {
        get: async () => script.describe(),
        failures: async () => script.failures(),
        rpc: ({ mutation, params: { method }, body: { payload, room_id } }) =>
          rpc(mutation, room_id, { method, payload }),
      },
    }),
  })
}

type Asked = { method: string; payload: string }

function humanOf({ actor }: Mutation): HumanPrincipal | undefined {
  return actor.kind === 'human' ? actor : undefined
}
