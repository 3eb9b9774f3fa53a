type Play = (baseUrl: string, print: (line: string) => void) => Promise<unknown>

/**
 * Plays an example against the node that the command line names, else the one on this machine.
 * `start`: how the node that it needs is started.
 */
export async function runExample(play: Play, start = 'npm start'): Promise<void> {
  const baseUrl = process.argv[2] ?? 'http://127.0.0.1:7350'
  if (await answers(baseUrl)) {
    await play(baseUrl, (line) => process.stdout.write(`${line}\n`))
  } else {
    process.stderr.write(`no node answers at ${baseUrl}; start one first: ${start}\n`)
    process.exitCode = 1
  }
}

async function answers(baseUrl: string): Promise<boolean> {
  try {
    await fetch(`${baseUrl}/health/live`)
    return true
  } catch {
    return false
  }
}
