import { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import { answerQuestions } from '../answer-questions.ts'

/**
 * Moves pages from the write-ahead log into the database file, and waits for the disk, on a thread
 * of its own with a connection of its own. PASSIVE: it never makes a reader or writer wait.
 */
const connection = new DatabaseSync(String(workerData), { timeout: 0 })
connection.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0')
const checkpoint = connection.prepare('PRAGMA wal_checkpoint(PASSIVE)')

answerQuestions<'checkpoint', string | null>(answer, () => connection.close())

/** What went wrong, if anything did. */
function answer(): string | null {
  try {
    checkpoint.get()
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
