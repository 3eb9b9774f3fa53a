import { serveNode } from '../../serve-node.ts'
import { createJavascriptEngine } from './javascript-engine.ts'

/** The worker of TypeScript and JavaScript in the trusted tier. */
serveNode(createJavascriptEngine)
