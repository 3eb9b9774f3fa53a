import { defineApi } from './route.ts'

/** Where a WebSocket begins. Frames pass through it, no HTTP: see `kinds/envelope.ts`. */
export const realtimeApi = defineApi({
  connect: {
    method: 'GET',
    path: '/v1/realtime',
    access: 'public',
    crossOrigin: true,
    status: 101,
    summary: 'Upgrades to the WebSocket of the realtime gateway; without an upgrade it is refused',
    errors: ['forbidden', 'rate_limited'],
  },
})
