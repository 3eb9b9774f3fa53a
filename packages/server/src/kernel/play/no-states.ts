import type { StateHooks } from './room-hooks.ts'

/** Of a script that keeps no state of rooms. */
export const noStates: StateHooks = {
  definesRoom: () => false,
  stateCreate: async () => ({ status: 'failed' }),
  stateDrop() {},
  stateWatch() {},
}
