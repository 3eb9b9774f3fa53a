import { api } from '@guildhall/contract'
import { useMay } from './permissions.ts'
import { useRead } from './reads.ts'

/** Whether the node executes the reset schedules of boards; undefined while that is not known. */
export function useExecutesResets(): boolean | undefined {
  const mayRead = useMay(api.config.get)
  const config = useRead(['config'], (client) => client.config.get({ query: {} }), {
    enabled: mayRead,
  })
  return config.data?.groups
    .find(({ name }) => name === 'leaderboards')
    ?.entries.some(({ key, value }) => key === 'execute_reset_schedules' && value === 'true')
}
