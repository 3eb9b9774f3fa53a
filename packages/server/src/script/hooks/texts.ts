/** What clients and operators read when a call does not succeed. They never hold script text. */
export const texts = {
  handlerError: 'RPC handler error',
  timedOut: 'RPC handler timed out',
  replyTooLarge: 'RPC reply too large',
  tooManyRequests: 'too many requests',
  unknownMethod: 'unknown RPC method',
  notAvailable: 'RPC runtime not available',
  gateClosed: 'game script unavailable',
  noScript: 'no game script',
} as const
