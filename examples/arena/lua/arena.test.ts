/** Lua and Python play the same game, so they have the same tests. */
import '../messages/arena.test.ts'
