/** What a connection asked of rooms and was not answered yet; one runs, the others wait. */
export type RequestLine = { waiting: RoomTask[]; running: boolean }

export type RoomTask = {
  /** A leave is never refused. */
  isLeave: boolean
  /** Returns at once, or resolves when the next one may run. */
  run(): Promise<void> | undefined
}
