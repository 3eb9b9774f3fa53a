import { parentPort } from 'node:worker_threads'

/** A question to a thread, or its answer, which has the same number. */
export type Numbered<T> = { number: number; content: T }

/** To be called on the thread: `answer` must not throw; `close` runs before the thread ends. */
export function answerQuestions<Question, Answer>(
  answer: (question: Question) => Answer,
  close: () => void,
): void {
  parentPort?.on('message', (message: Numbered<Question> | 'close') => {
    if (message !== 'close') {
      const { number, content } = message
      parentPort?.postMessage({ number, content: answer(content) } satisfies Numbered<Answer>)
      return
    }
    close()
    parentPort?.close()
  })
}
