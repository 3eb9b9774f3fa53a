import { emailSignUp } from './accounts.ts'
import { HttpConnection } from './http-connection.ts'

/**
 * A process that signs newcomers up by email, one after the other on each of its connections, until
 * it is asked to end; then it prints how many there were: `PORT CONNECTIONS SERIES`.
 */
const [port = '', connectionsCount = '', series = ''] = process.argv.slice(2)

let begun = 0
let made = 0
let isOver = false
process.once('SIGTERM', () => {
  isOver = true
})

async function signUpOnce(connection: HttpConnection): Promise<void> {
  begun += 1
  const { status } = await connection.fetch(emailSignUp(`${series}-${begun}`))
  if (status !== 201) throw new Error(`a sign-up was answered with ${status}`)
  made += 1
}

async function signUpWithoutPause(connection: HttpConnection): Promise<void> {
  while (!isOver) await signUpOnce(connection)
  connection.close()
}

const connections = await Promise.all(
  Array.from({ length: Number(connectionsCount) }, () => HttpConnection.open(Number(port))),
)
// Once each has been answered, this process has loaded and compiled what it needs.
await Promise.all(connections.map(signUpOnce))
made = 0
process.stdout.write('ready\n')
await Promise.all(connections.map(signUpWithoutPause))
process.stdout.write(`made=${made}\n`)
