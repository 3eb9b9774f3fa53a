/**
 * Who sends a kind: the client, the server, both, or nobody yet.
 */
export type KindDirection = 'client' | 'server' | 'both' | 'none'

/**
 * `reliable` kinds arrive, in order. `unreliable` ones may be lost or overtake where the transport
 * has datagrams. With `either` the sender chooses.
 */
export type KindLane = 'reliable' | 'unreliable' | 'either'

/**
 * `implemented` kinds are spoken by the service, `reserved` ones are assigned and not spoken,
 * `free` ones are unassigned, and `application` kinds belong to the game.
 */
export type KindState = 'implemented' | 'reserved' | 'free' | 'application'

/** One row of the table of kinds; ranges have `first` below `last`. */
export type KindRow = {
  first: number
  last: number
  direction: KindDirection
  lane: KindLane
  state: KindState
}

/**
 * Every kind, 0..65535, exactly once.
 *
 * @example encodeFrame(kinds.ROOM_JOIN.first, roomJoinBody.encode({ room_id: 7 }))
 */
export const kinds = {
  FREE_0: free(0, 0),
  POSITION: spoken(1, 'client', 'either'),
  PEER_POSITION: spoken(2, 'server', 'unreliable'),
  RPC_REQUEST: spoken(3, 'client'),
  RPC_RESPONSE: spoken(4, 'server'),
  AUTH: spoken(5, 'client'),
  AUTH_RESULT: spoken(6, 'server'),
  OBJECT_SYNC: reserved(7, 12),
  STATE_REPLICATION: reserved(13, 15),
  NETWORKED_OBJECTS: reserved(16, 20),
  ROOM_CREATE: spoken(21, 'client'),
  ROOM_JOIN: spoken(22, 'client'),
  ROOM_JOINED: spoken(23, 'server'),
  ROOM_LEAVE: spoken(24, 'both'),
  ROOM_MAP_READY: spoken(25, 'client'),
  MATCHMAKER_MATCHED: spoken(26, 'server'),
  NOTIFICATION: spoken(27, 'server'),
  CHAT_EVENT: spoken(28, 'server'),
  OBJECT_SYNC_2: reserved(29, 31),
  MATCH_CLOSED: spoken(32, 'server'),
  ROOM_REJECT: spoken(33, 'server'),
  DIAG_SERVER_TIME: spoken(34, 'server'),
  DIAG_CAPABILITIES: spoken(35, 'client'),
  DIAG_CLOCK_SYNC: spoken(36, 'both'),
  DIAG_START: spoken(37, 'server'),
  DIAG_FLUSH: spoken(38, 'server'),
  DIAG_STATUS: spoken(39, 'client'),
  MATCH_INPUT: reserved(40, 43),
  SESSION_OPTIONS: spoken(44, 'client'),
  SESSION_INFO: spoken(45, 'server'),
  ROOM_PRESENCE: spoken(46, 'server'),
  NOTICE: spoken(47, 'server'),
  ROOM_ENTER: spoken(48, 'client'),
  FREE_49: free(49, 49),
  ROOM_STATE: spoken(50, 'server'),
  FREE_51: free(51, 99),
  APPLICATION: {
    first: 100,
    last: 65535,
    direction: 'both',
    lane: 'either',
    state: 'application',
  },
} as const satisfies Record<string, KindRow>

/** The name of a row of the table, e.g. `'ROOM_JOIN'`. */
export type KindName = keyof typeof kinds

/** The lowest kind that belongs to the game; those below belong to the service. */
export const applicationKindMin = 100

/**
 * The row of a kind.
 *
 * @throws RangeError when `kind` is no integer of 0..65535
 * @example kindRow(150).state // 'application'
 */
export function kindRow(kind: number): KindRow {
  const row = kind >= applicationKindMin ? kinds.APPLICATION : serviceKinds[kind]
  if (row === undefined || !Number.isInteger(kind) || kind > row.last) {
    throw new RangeError('a kind is an integer of 0..65535')
  }
  return row
}

/** The kinds below 100 by number, so that looking one up is one array access. */
const serviceKinds = /* @__PURE__ */ rowsByKind()

function rowsByKind(): readonly KindRow[] {
  return Object.values(kinds)
    .filter((row) => row.last < applicationKindMin)
    .flatMap((row: KindRow) => new Array<KindRow>(row.last - row.first + 1).fill(row))
}

function spoken<Kind extends number, Direction extends KindDirection>(
  kind: Kind,
  direction: Direction,
  lane: KindLane = 'reliable',
) {
  return { first: kind, last: kind, direction, lane, state: 'implemented' } as const
}

function reserved(first: number, last: number) {
  return { first, last, direction: 'none', lane: 'reliable', state: 'reserved' } as const
}

function free(first: number, last: number) {
  return { first, last, direction: 'none', lane: 'reliable', state: 'free' } as const
}
