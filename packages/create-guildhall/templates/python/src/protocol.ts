export { type Game, type Scores, scoresKind, tapKind } from '../game/protocol.ts'
