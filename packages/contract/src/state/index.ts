/** The entry point of those who keep the states of rooms: how they are compared and encoded. */

export { type StateChange, StateEncoder } from './state-encoder.ts'
export { stateDepthMax } from './state-format.ts'
export {
  encodeStateChanges,
  encodeStateFull,
  isStateFull,
  type StateList,
} from './state-message.ts'
export type { StateDecimals } from './state-numbers.ts'
export { numeric, StatePart } from './state-part.ts'
