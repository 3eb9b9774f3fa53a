import type { LivePlayers } from '../kernel/play/delivery.ts'

/** Nobody is connected. */
export const noPlayers: LivePlayers = {
  push() {},
  send() {},
  accountOf: () => null,
  isConnected: () => false,
}
