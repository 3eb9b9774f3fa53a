import type { Verdict } from './lag.ts'

type Words = { title: string; text: string }

/** What a person reads of a verdict. */
export const verdictWords: Readonly<Record<Verdict, Words>> = {
  even: {
    title: 'arrivals are even',
    text: 'It is not the arrival: look at the frame time of the game on the device.',
  },
  node: {
    title: 'the node',
    text:
      'It sent unevenly, and the arrivals follow it: look for late ticks, slow handlers, and ' +
      'players whose messages it passes on as they come.',
  },
  way: {
    title: 'the way or the device',
    text: 'The node sent evenly; what made it uneven is behind it.',
  },
  both: {
    title: 'the way, and the node a little',
    text: 'The node sent unevenly, and the arrivals stalled far longer than it did.',
  },
  node_unknown: {
    title: 'uneven, the node is unknown',
    text: 'What the node saw of it was not counted, so the two cannot be compared.',
  },
  sent_evenly: {
    title: 'even at the node',
    text: 'What the player sent came evenly: it is not the way to the node.',
  },
  sent_unevenly: {
    title: 'sent as it came',
    text:
      'The device sent unevenly, as it does when a message follows what the player does. Of lag ' +
      'that says something only when the game sends it by a beat.',
  },
  way_to_node: {
    title: 'the way to the node',
    text: 'The device sent more evenly than the messages came to the node.',
  },
  too_few: {
    title: 'too few messages',
    text: 'Fewer than 30 spacings say nothing for sure: record longer, or another kind.',
  },
  no_data: {
    title: 'nothing to compare',
    text: 'None of these messages was recorded.',
  },
}
