/** Players meet the same game as that in TypeScript: so its tests are those of this one. */
import '../game/arena.test.ts'
