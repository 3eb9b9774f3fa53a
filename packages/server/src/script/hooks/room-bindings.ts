import type { MatchEvent } from '../../kernel/play/room-hooks.ts'

/** Which rooms are bound to which script, as the events of their matches say. */
export type RoomBindings = ReturnType<typeof createRoomBindings>

export function createRoomBindings() {
  const generations = new Map<number, number>()
  return {
    follow({ event, room_id, binding }: MatchEvent): void {
      if (event === 'created' && binding !== null) generations.set(room_id, binding.generation)
      if (event === 'ended') generations.delete(room_id)
    },
    hasRooms(generation: number): boolean {
      for (const bound of generations.values()) if (bound === generation) return true
      return false
    },
    /** Null for a room that is not bound. */
    generationOf: (room_id: number): number | null => generations.get(room_id) ?? null,
  }
}
