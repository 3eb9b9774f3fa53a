import { type Rule, rule, unless } from './rule.ts'
import { collide, parseAddress } from './values/address.ts'

/** Where several sockets may have one port, each with its share of what comes. */
const platformsWithSharedPorts = ['linux', 'freebsd', 'sunos', 'aix']
const nodeIdMax = 64
const portMax = 65_535

/** What else must hold where one command runs several nodes. */
export const processRules: readonly Rule[] = [
  rule(['server.processes', 'cluster.enabled'], ({ server, cluster }) =>
    unless(server.processes === 1 || cluster.enabled, {
      wrong: `${server.processes} nodes would not play together`,
      allowed: 'cluster.enabled = true, or 1',
    }),
  ),
  rule(['server.processes'], ({ server }) =>
    unless(server.processes === 1 || platformsWithSharedPorts.includes(process.platform), {
      wrong: `processes cannot share a port on ${process.platform}`,
      allowed: `1, or one of ${platformsWithSharedPorts.join(', ')}`,
    }),
  ),
  rule(['server.node_id', 'server.processes'], ({ server: { node_id, processes } }) =>
    unless(processes === 1 || `${node_id}-${processes}`.length <= nodeIdMax, {
      wrong: `leaves no room for the number of a process behind it`,
      allowed: `${nodeIdMax} characters with it`,
    }),
  ),
  rule(
    ['metrics.bind', 'metrics.enabled', 'server.processes', 'http.bind'],
    ({ metrics, server: { processes }, http }) => {
      const [first, listener] = [parseAddress(metrics.bind), parseAddress(http.bind)]
      if (!metrics.enabled || first === undefined || listener === undefined) return undefined
      const last = first.port === 0 ? 0 : first.port + processes - 1
      if (last > portMax) {
        return { wrong: `is counted up to port ${last}`, allowed: `ports up to ${portMax}` }
      }
      const isBetween = first.port < listener.port && listener.port <= last
      return unless(!isBetween || !collide({ ...first, port: listener.port }, listener), {
        wrong: `is counted up to port ${last}, with that of http.bind ${http.bind} on the way`,
        allowed: `${processes} ports that nothing else has`,
      })
    },
  ),
  rule(['runtime.inspect', 'server.processes'], ({ runtime, server }) =>
    unless(runtime.inspect === undefined || server.processes === 1, {
      wrong: `is one address for ${server.processes} processes`,
      allowed: 'server.processes = 1 while a debugger is attached',
    }),
  ),
]
