import { serveNode } from '../../serve-node.ts'
import { createJavascriptEngine } from './javascript-engine.ts'

// Node.js has gone by it at the start of this process; it is none of the script's business.
Reflect.deleteProperty(process.env, 'NODE_COMPILE_CACHE')

/** The worker of TypeScript and JavaScript in the trusted tier. */
serveNode(createJavascriptEngine)
