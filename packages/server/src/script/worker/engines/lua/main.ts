import { serveNode } from '../../serve-node.ts'
import { createLuaEngine } from './lua-engine.ts'

/** The worker of Lua, in both tiers: the tier decides what `guildhall` has. */
serveNode(createLuaEngine)
