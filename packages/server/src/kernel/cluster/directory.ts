/**
 * What the nodes of a deployment agree on. Every outcome that may exist once only is one operation
 * here. An operation that fails says nothing about what it did.
 */
export type Directory = NodeDirectory & NameDirectory & SessionDirectory & RoleDirectory

export type NodeState = 'live' | 'draining'

/** What all nodes of a deployment must have alike, by the names of their keys. */
export type ClusterSettings = Readonly<Record<string, string>>

export type NodeRow = {
  slot: number
  node_id: string
  boot_id: string
  version: string
  state: NodeState
  /** How often the boot has renewed its row. */
  renewals: number
  rooms: number
  connections: number
  settings: ClusterSettings
}

/** What was read of another boot: a takeover fails if the boot has renewed since. */
export type SeenBoot = { boot_id: string; renewals: number }

export type NodeDirectory = {
  /**
   * Takes the slot that has been free longest, of 1 to 4095.
   *
   * @throws when all are taken
   */
  claimSlot(boot: Omit<NodeRow, 'slot' | 'renewals' | 'rooms' | 'connections'>): Promise<number>
  /** Renews the row; false when another boot has the slot. */
  renew(boot: BootReport): Promise<boolean>
  /** All boots that have a slot. */
  nodes(): Promise<NodeRow[]>
  /** Makes the slot free, and removes all that the boot had. */
  leave(bootId: string): Promise<void>
  /** The same for a boot that is gone, if it has not renewed since; false if it has. */
  free(seen: SeenBoot): Promise<boolean>
}

export type BootReport = Pick<NodeRow, 'slot' | 'boot_id' | 'state' | 'rooms' | 'connections'>

export type NameHolder = { room_id: number; boot_id: string }

export type NameDirectory = {
  /**
   * Reserves a free name. Answers with its holder, which is the asker when it got it. `gone` are
   * boots whose names may be taken over.
   */
  reserveName(name: string, holder: NameHolder, gone: readonly SeenBoot[]): Promise<NameHolder>
  /** Makes the name free if this room has it. */
  releaseName(name: string, holder: NameHolder): Promise<void>
  /** The names of a boot. */
  namesOf(bootId: string): Promise<{ name: string; room_id: number }[]>
}

/** The connection of a session. */
export type SessionRow = {
  session_id: string
  user_id: string
  participant: number
  /** The node of the connection. */
  boot_id: string
  /** Null outside of rooms. */
  room_id: number | null
  /** Of two connections of a session the one with the larger number is the newer one. */
  number: number
}

/** A seat that waits for a connection of its account. */
export type SeatRow = {
  participant: number
  session_id: string
  user_id: string
  /** The node of the room. */
  boot_id: string
  room_id: number
}

export type PlaceChanges = {
  sessions: readonly SessionRow[]
  /** Sessions whose connection is over; one that another boot has meanwhile stays. */
  ended: readonly Pick<SessionRow, 'session_id' | 'boot_id' | 'participant'>[]
  seats: readonly SeatRow[]
  endedSeats: readonly Pick<SeatRow, 'boot_id' | 'participant'>[]
}

/** A connection that a newer one of its session replaces. */
export type Replaced = Pick<SessionRow, 'session_id' | 'boot_id' | 'participant'>

export type WrittenPlaces = {
  /** The connections that others had of the sessions written, until they took them. */
  replaced: Replaced[]
  /** Sessions that were not written, because a newer connection has their row. */
  older: string[]
}

export type SessionDirectory = {
  /** A number for a connection: larger than all that were given before it was asked for. */
  nextNumber(): Promise<number>
  writePlaces(changes: PlaceChanges): Promise<WrittenPlaces>
  /** Connections of this boot that later ones of other boots have replaced, each once. */
  takeReplaced(bootId: string): Promise<Replaced[]>
  /** Connections and seats of these accounts, seats in the order in which they were dropped. */
  placesOf(userIds: readonly string[]): Promise<{ sessions: SessionRow[]; seats: SeatRow[] }>
}

export type Role = { holder: string; generation: number }

export type RoleDirectory = {
  /** Takes a role that is free or whose holder is gone; answers with who has it. */
  takeRole(role: string, boot: string, gone: readonly SeenBoot[]): Promise<Role>
  releaseRole(role: string, held: Role): Promise<void>
}
