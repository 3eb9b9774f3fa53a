import type { BindingHost } from './binding-host.ts'

/** What the script can learn about the connections of this node. */
export function createSessionBindings(host: BindingHost) {
  return { session_list: () => host.ask('session_list', []) }
}
