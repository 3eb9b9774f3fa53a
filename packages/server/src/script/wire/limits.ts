/** What one invocation and one script may use (the numbers that no configuration key changes). */
export const limits = {
  commandsPerInvocation: 1_024,
  bodyBytes: 65_536,
  bodyBytesPerInvocation: 1_048_576,
  hostCallsOpen: 64,
  hostCallsPerInvocation: 1_024,
  replyBytes: 65_536,
  /** What on_unload hands over. */
  stateBytes: 4_194_304,
  failTextBytes: 256,
  failDataBytes: 4_096,
  messageKinds: 1_000,
  rpcMethods: 1_000,
  schedules: 100,
  rpcMethodBytes: 128,
  timers: 1_000,
  /** Of `room.after`, which are not among them. */
  timersOfRoom: 16,
  roomDefinitions: 100,
  timerDelayMs: 86_400_000,
  exceptedParticipants: 1_024,
  traceChars: 4_096,
  errorTextChars: 1_024,
  /** A file that JavaScript in the trusted tier loads: it travels to the node in one message. */
  sourceFileBytes: 64_000_000,
} as const

/** What one batch between the threads may hold, and how many may be unanswered. */
export const batchLimits = { calls: 256, bodyBytes: 524_288, unanswered: 2 } as const

/**
 * What one message may have. The node gives a worker all files of a script at once. A worker gives
 * it the bodies and calls of one turn, and with them the states of rooms, which have a bound of
 * their own.
 */
export const messageBytes = { toWorker: 1_073_741_824, fromWorker: 67_108_864 } as const

/** Times of the protocol between the threads. */
export const protocolTimes = {
  engineStartMs: 20_000,
  pingEveryMs: 1_000,
  pongWithinMs: 5_000,
  /** A slice that the engine cannot interrupt may run this long past its deadline. */
  graceMs: 1_000,
  /** How often the worker's watchdog says that the process is alive. */
  beatEveryMs: 1_000,
  memoryLookEveryMs: 100,
  /** How long the watchdog waits for the node to end the process before it does so itself. */
  lastWordsMs: 500,
  /** After this long without a failure a worker counts as healthy. */
  healthyAfterMs: 30_000,
} as const

/** Participants, rooms and times are exact numbers below this. */
export const safeIdMax = Number.MAX_SAFE_INTEGER
