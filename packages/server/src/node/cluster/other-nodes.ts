import type { Clock } from '../../kernel/clock.ts'
import type { KnownNode, NodeAnswer, OtherNodes } from '../../kernel/cluster/other-nodes.ts'
import { slotOf } from '../../realtime/counting-ids.ts'
import type { Gateway } from '../../realtime/gateway.ts'
import { silent } from '../../realtime/relay/asks.ts'
import type { Cluster } from './open-cluster.ts'

type OtherNodesDeps = {
  clock: Clock
  gateway: Gateway
  cluster: Cluster | undefined
  /** This node, where it plays with itself. */
  self(): Omit<KnownNode, 'slot' | 'state' | 'seen_at_unix_ms'>
}

/** A node that is silent for so long is left out, in milliseconds. */
const answerMs = 1000

export function createOtherNodes({ clock, gateway, cluster, self }: OtherNodesDeps): OtherNodes {
  const asks = gateway.relay?.asks
  if (cluster === undefined || asks === undefined) {
    return {
      nodeId: null,
      nodes: () => [{ ...self(), slot: 0, state: 'live', seen_at_unix_ms: clock.nowUnixMs() }],
      serve() {},
      askAll: async () => ({ answers: [], missing: [] }),
      askOwner: async () => undefined,
    }
  }
  const { membership } = cluster

  async function ask(
    { node_id, boot_id }: { node_id: string; boot_id: string },
    about: string,
    value: unknown,
    withinMs = answerMs,
  ): Promise<NodeAnswer | undefined> {
    const answer = await asks?.ask(boot_id, { about, value }, withinMs)
    return answer === silent ? undefined : { node_id, value: answer }
  }

  const others = () =>
    membership.nodes().filter((node) => node.boot_id !== membership.bootId && !node.isGone)

  return {
    nodeId: self().node_id,
    nodes() {
      const [nowMs, nowUnixMs] = [clock.monotonicMs(), clock.nowUnixMs()]
      return membership.nodes().map(({ isGone, seenMs, ...row }) => {
        const { node_id, boot_id, slot, version } = row
        const isSelf = boot_id === membership.bootId
        const { rooms, connections } = isSelf ? self() : row
        return {
          ...{ node_id, boot_id, slot, version, rooms, connections },
          state: isGone ? 'gone' : row.state,
          seen_at_unix_ms: isSelf ? nowUnixMs : Math.floor(nowUnixMs - (nowMs - seenMs)),
        }
      })
    },
    serve: asks.serve,
    async askAll(about, question) {
      const asked = others()
      const answers = await Promise.all(asked.map((node) => ask(node, about, question)))
      return {
        answers: answers.filter((answer) => answer !== undefined),
        missing: asked.filter((_, at) => answers[at] === undefined).map(({ node_id }) => node_id),
      }
    },
    async askOwner(roomId, about, question, withinMs) {
      const owner = others().find(({ slot }) => slot === slotOf(roomId))
      return owner && ((await ask(owner, about, question, withinMs)) ?? 'silent')
    },
  }
}
