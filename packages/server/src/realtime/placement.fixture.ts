import { atEndOfTurn } from '../kernel/clock.ts'
import { connectBus } from './bus.fixture.ts'
import { createConnectedPlayers } from './connected-players.ts'
import { createGateway, type Gateway, type GatewayDeps } from './gateway.ts'
import { metricNames } from './metrics.ts'

let placement: 'together' | 'bus' = 'together'

/** Where the owner of rooms is from here on: with the edge, or in another gateway behind a bus. */
export function placeOwner(where: 'together' | 'bus'): void {
  placement = where
}

export type Placed = {
  gateway: Gateway
  /** Resolves when nothing is under way between edge and owner. */
  idle(): Promise<void>
}

/** A gateway with its owner where it is placed. */
export function createPlaced(deps: Omit<GatewayDeps, 'online'>): Placed {
  return placement === 'bus' ? createOverBus(deps) : createTogether(deps)
}

function createTogether(deps: Omit<GatewayDeps, 'online'>): Placed {
  const gateway = createGateway({ ...deps, online: createConnectedPlayers() })
  return { gateway, idle: () => new Promise(atEndOfTurn) }
}

/** Two gateways as one: connections are those of the first, all else is of the second. */
function createOverBus(deps: Omit<GatewayDeps, 'online'>): Placed {
  const owner = createGateway({ ...deps, online: createConnectedPlayers() })
  const bus = connectBus(owner.owner)
  const edge = createGateway({
    ...deps,
    online: createConnectedPlayers(),
    reachOwner: () => bus.port,
  })
  const gateway: Gateway = {
    ...owner,
    accept: edge.accept,
    refuses: edge.refuses,
    metrics() {
      const [one, other] = [edge.metrics(), owner.metrics()]
      for (const name of metricNames) one[name] += other[name]
      return one
    },
    closeSessions(sessionIds) {
      for (const each of [edge, owner]) each.closeSessions(sessionIds)
    },
    async revalidate() {
      await Promise.all([edge.revalidate(), owner.revalidate()])
    },
    async close() {
      await owner.close()
      await bus.idle()
      await edge.close()
    },
  }
  return { gateway, idle: bus.idle }
}
