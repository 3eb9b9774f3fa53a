import { serveNode } from '../../serve-node.ts'
import { createPythonEngine } from './python-engine.ts'

/** The worker of Python. */
serveNode(createPythonEngine)
