import type { Connection } from '@guildhall/client'
import { type LagRecorder, type LagRecorderState, recordLag } from '@guildhall/client/lag'
import type { Arena } from '../game/protocol.ts'

/** Where the page says what is recorded; the two buttons answer and end it. */
export type RecordingPlace = {
  box: HTMLElement
  words: HTMLElement
  allow: HTMLButtonElement
  stop: HTMLButtonElement
}

const words: Readonly<Partial<Record<LagRecorderState, string>>> = {
  asking: 'May the operator record timings, never content?',
  recording: 'A recording of timings runs, never of content.',
  frozen: 'A recording of timings waits for its upload.',
  uploading: 'A recording of timings is uploaded.',
}

/** Offers the device as a recorder of arrival times. Who plays is asked for each recording. */
export function offerRecording(connection: Connection<Arena>, place: RecordingPlace): LagRecorder {
  let answer: ((agrees: boolean) => void) | undefined
  const recorder = recordLag(connection, {
    consent: () => {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      answer = resolve
      return promise
    },
  })
  recorder.on('state', (state) => {
    place.words.textContent = words[state] ?? ''
    place.box.hidden = words[state] === undefined
    place.allow.hidden = state !== 'asking'
    place.stop.textContent = state === 'asking' ? 'No' : 'Stop'
  })
  place.allow.onclick = () => answer?.(true)
  place.stop.onclick = () => {
    if (recorder.state === 'asking') answer?.(false)
    else recorder.stop()
  }
  return recorder
}
