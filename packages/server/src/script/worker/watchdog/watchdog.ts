import { writeSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { createSystemClock, processMs } from '../../../kernel/clock.ts'
import { protocolTimes } from '../../wire/limits.ts'
import { isAttached, overdueCall } from '../control.ts'
import { createInterrupter } from './interrupter.ts'
import { createWatch } from './watch.ts'
import { isFromWatched, reportFd, type WatchdogSettings } from './watchdog-protocol.ts'

/**
 * A thread beside the script's own, in the same process. It says what is wrong on a pipe that the
 * node reads, and ends the process itself if the node does not: a loop that nothing can interrupt
 * must not outlive its deadline, nor its node.
 */
function watch(port: NonNullable<typeof parentPort>, settings: WatchdogSettings): void {
  const clock = createSystemClock()
  const control = new Int32Array(settings.control)
  const node = process.ppid
  let reported = false

  function end(): never {
    process.kill(process.pid, 'SIGKILL')
    throw new Error('the process goes on after SIGKILL')
  }

  function report(line: string): void {
    if (reported) return
    reported = true
    clock.after(protocolTimes.lastWordsMs, end)
    writeSync(reportFd, `${line}\n`)
  }

  function beat(): void {
    if (process.ppid !== node) end()
    const { user, system } = process.cpuUsage()
    writeSync(reportFd, `beat ${watched.turns()} ${user + system}\n`)
  }

  function lookAtMemory(): void {
    if (isAttached(control)) return
    if (process.memoryUsage.rss() > settings.residentBytesMax) report('memory')
  }

  const watched = createWatch({
    control,
    clock,
    deadlineMs: settings.deadlineMs,
    post: (message) => port.postMessage(message),
    looked: createInterrupter({ control, clock, nowMs: processMs, terminate }),
    overdue() {
      const { running, begun } = overdueCall(control)
      report(`overdue ${running} ${begun}`)
    },
    unresponsive: () => report('unresponsive'),
  })
  port.on('message', (message: unknown) => {
    if (isFromWatched(message)) watched.pong(message.n)
  })
  beat()
  clock.every(protocolTimes.beatEveryMs, beat)
  clock.every(protocolTimes.memoryLookEveryMs, lookAtMemory)
  watched.start()
}

/** Through the inspector, to which the other thread listens also while it computes. */
function terminate(): void {
  // Loaded by those alone who interrupt.
  const { Session } = process.getBuiltinModule('node:inspector')
  const session = new Session()
  session.connectToMainThread()
  session.post('Runtime.terminateExecution', () => session.disconnect())
}

if (parentPort) watch(parentPort, workerData)
