import { serveNode } from '../../serve-node.ts'
import { createQuickjsEngine } from './quickjs-engine.ts'

/** The worker of TypeScript and JavaScript in the sandboxed tier. */
serveNode(createQuickjsEngine)
